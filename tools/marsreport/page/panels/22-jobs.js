/* Which job has which nodes, and, with links_by_job.csv, which links it loads. */
"use strict";

(function () {
    const { make } = mars;

    class Jobs {
        constructor(box, run) {
            this.run = run;
            this.scene = new mars.Scene(run);
            this.names = run.jobs.names;
            this.at = new Map();
            run.jobs.place.forEach((place, i) => {
                const of = this.at.get(place) || [];
                of.push([run.jobs.job[i], run.jobs.nodes[i]]);
                this.at.set(place, of);
            });
            /* The job that the headline speaks of has the first colour. */
            const blamed = this.names.findIndex(name => (run.bottleneck || "").includes("job " + name + " "));
            this.order = this.names.map((name, i) => i).sort((a, b) => (b === blamed) - (a === blamed) || a - b);
            const nodes = this.names.map((name, job) => run.jobs.job.reduce((sum, of, i) => sum + (of === job ? run.jobs.nodes[i] : 0), 0));
            this.canvas = make("canvas", { role: "img", class: "jobs", "aria-label": "the machine, its nodes by job" });
            this.buttons = this.order.map((job, i) => make("button", { type: "button", "aria-pressed": false, onclick: () => mars.select("job " + this.names[job]) },
                make("span", { class: "mark", style: "background:" + mars.colours.mark(i) }), this.names[job] + ", " + mars.count(nodes[job]) + (nodes[job] === 1 ? " node" : " nodes")));
            this.top = make("span", {}, "");
            this.scale = mars.colours.scale("0", this.top);
            box.append(make("div", { class: "controls" }, ...this.buttons, this.scale), make("div", { class: "canvas" }, this.canvas),
                make("p", { class: "hint" }, "A place that several jobs share is divided among them, as its nodes are. " + (run.carried
                    ? "A line has the colour of the job that loads it most; of a job that is chosen lines and squares have their load by it." : ""), ...(run.carried ? [] : ["Whose traffic the links carry: ", make("code", {}, "output.links_by_job = true")])));
            mars.hints(this.canvas, (x, y) => this.point(x, y));
            mars.picksAt(this.canvas, (x, y) => this.scene.keyAt(this.view, x, y, run.carried ? -1 : -2));
            mars.drawn(() => this.draw());
            mars.follows(() => this.draw());
            this.canvas.jobs = this;
        }

        draw() {
            const own = mars.picked(this.run);
            this.chosen = own && own.it.kind === "job" ? this.names.indexOf(own.it.job) : -1;
            this.buttons.forEach((button, i) => button.setAttribute("aria-pressed", this.order[i] === this.chosen));
            const width = this.canvas.parentElement.clientWidth, height = Math.round(Math.max(160, Math.min(400, width * this.scene.scene.height / this.scene.scene.width + 40)));
            const c = mars.canvasOf(this.canvas, width, height), { x, y, size, count, node } = this.scene.scene.places;
            this.view = this.scene.fit(width, height);
            this.scene.drawFrames(c, this.view, {});
            const ofJob = this.chosen >= 0 && this.scene.loadsOf(this.names[this.chosen]), most = ofJob && this.scene.highest(ofJob) || 1;
            this.scale.hidden = !ofJob;
            this.top.textContent = ofJob ? mars.percent(most) + " busy with " + this.names[this.chosen] : "";
            if (ofJob)
                this.scene.drawLines(c, this.view, { loads: ofJob, class: -1, share: load => load / most });
            else if (this.run.carried)
                this.scene.drawLines(c, this.view, { class: -1, kindOf: half => this.most(half) });
            const colour = this.order.reduce((list, job, i) => (list[job] = mars.colours.kind(i), list), []), none = mars.colours.variable("rule");
            for (let i = 0; i < this.scene.places; i++) {
                const of = this.at.get(i) || [], side = Math.max(3, size[i] * this.view.scale), top = this.view.y + y[i] * this.view.scale - side / 2;
                const all = of.reduce((sum, [, nodes]) => sum + nodes, 0), whole = node[i] ? Math.max(count[i], all) : all; /* a switch's place has all the nodes at it */
                let left = this.view.x + x[i] * this.view.scale - side / 2;
                const load = ofJob ? this.scene.placeLoad(ofJob, i, -1) : 0;
                c.fillStyle = load > 0 ? mars.colours.load(load / most) : none;
                c.fillRect(left, top, side, side);
                for (const [job, nodes] of of) {
                    c.fillStyle = colour[job];
                    if (this.chosen < 0 || this.chosen === job)
                        c.fillRect(left, top, side * nodes / whole, side);
                    left += side * nodes / whole;
                }
            }
            if (this.chosen < 0)
                this.scene.drawPicked(c, this.view);
        }

        /* The place in the order of jobs of the one that a half line carries most of; behind all of them: of none, or of no job. */
        most(half) {
            const list = this.run.carried.map(({ job, load }) => [this.order.indexOf(this.names.indexOf(job)), load[half]]).sort((a, b) => b[1] - a[1]);
            return list[0][1] && list[0][0] >= 0 ? list[0][0] % 24 : 24;
        }

        point(x, y) {
            const found = this.scene.find(this.view, x, y, this.run.carried ? -1 : -2);
            if (!found || found.place === undefined)
                return found && this.scene.tell(found, this.scene.loads(-1), true);
            const of = this.at.get(found.place) || [], label = this.scene.scene.places.label[found.place];
            const links = this.run.carried ? this.scene.tell(found, this.scene.loads(-1), true).replace(/^[^\n]*/, "") : "";
            return [label].concat(of.length ? of.map(([job, nodes]) => this.names[job] + ": " + mars.count(nodes) + (nodes === 1 ? " node" : " nodes")) : ["no job"]).join("\n") + links;
        }
    }

    mars.panel({
        id: "jobs", network: true, title: "Jobs on the machine", wide: true, wanted: () => mars.runs.some(run => run.jobs),
        build(box, run) {
            if (run.jobs)
                new Jobs(box, run);
            else
                box.append(make("p", { class: "missing" }, "There are no jobs."));
        },
    });
})();
