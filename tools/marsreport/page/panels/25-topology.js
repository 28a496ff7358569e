/* The machine in its own shape, coloured by how busy its links are: of the whole run, or period by period. */
"use strict";

(function () {
    const { make } = mars;

    class View {
        constructor(box, run, index) {
            this.scene = new mars.Scene(run);
            this.frame = -1;
            this.class = -1;
            this.full = this.scene.highest(this.scene.loads(-1)) > 0.5;
            this.times = run.movie ? run.movie.time_ps : [];
            this.canvas = make("canvas", { tabindex: 0, role: "img", class: "scene", "aria-label": "links of the machine by load; plus and minus zoom, arrows move, 0 shows all" });
            this.top = make("span", {}, "");
            box.append(this.controls(run.partial), make("div", { class: "canvas" }, this.canvas), make("p", { class: "hint" }, run.scene.text +
                " Each half of a line is coloured by what its end sends. A click selects. Drag to move, plus and minus (or Ctrl and the wheel) zoom."));
            this.listen();
            mars.drawn(() => this.resize());
            mars.follows(() => this.draw());
            mars.picksAt(this.canvas, (x, y) => this.scene.keyAt(this.view, x, y, this.class));
            this.canvas.view = this;
            if (this.player)
                mars.axis("run" + index).listen((from, to) => this.player.limit(from, to));
        }

        controls(partial) {
            const scene = this.scene.scene, classes = make("select", { "aria-label": "class of links", onchange: event => {
                this.class = Number(event.target.value);
                this.draw();
            } }, make("option", { value: -1 }, "all classes"), ...scene.classes.map((name, i) => make("option", { value: i }, name)));
            this.range = make("select", { "aria-label": "scale", onchange: event => {
                this.full = event.target.value === "full";
                this.draw();
            } }, make("option", { value: "full" }, "0 to 100 %"), make("option", { value: "highest" }, "0 to the highest"));
            this.range.value = this.full ? "full" : "highest";
            const zooms = [["+", 1.4], ["−", 1 / 1.4]].map(([text, factor]) => make("button", { type: "button", "aria-label": factor > 1 ? "zoom in" : "zoom out",
                onclick: () => this.zoom(factor) }, text));
            const box = make("div", { class: "controls" }, classes, this.range, mars.colours.scale("idle", this.top), ...zooms,
                make("button", { type: "button", onclick: () => this.resize() }, "All"));
            if (this.times.length)
                this.player = new mars.Player(this.times, this.scene.movie.begun_ps, frame => this.show(frame), partial ? "all periods" : undefined);
            if (this.player)
                box.append(...this.player.elements);
            else
                box.append(make("span", { class: "hint" }, "For each period, with play: ", make("code", {}, "output.period"), " and ",
                    make("code", {}, "output.series.links = \"periods\"")));
            return box;
        }

        show(frame) {
            this.frame = frame;
            this.draw();
        }

        resize() {
            const width = this.canvas.parentElement.clientWidth, shape = this.scene.scene.height / this.scene.scene.width;
            this.width = width;
            this.height = Math.round(Math.max(240, Math.min(680, width * shape + 40)));
            this.view = this.scene.fit(this.width, this.height);
            this.draw();
        }

        /* While the movie plays, one scale for all frames. */
        most() {
            if (this.mostKnown === undefined) {
                this.mostKnown = this.scene.highest(this.scene.loads(-1));
                this.mostFrames = this.times.reduce((most, time, i) => Math.max(most, this.scene.highest(this.scene.loads(i))), 0);
            }
            return (this.frame < 0 ? this.mostKnown : this.mostFrames) || 1;
        }

        /* Of a job that is selected what the links carry of it, where that is known, else of all. */
        loads() {
            const own = mars.picked(this.scene.run), job = this.frame < 0 && own && own.it.kind === "job" ? own.it.job : "";
            if (job !== this.job)
                this.job = job, this.ofJob = job ? this.scene.loadsOf(job) : null;
            return this.ofJob || this.scene.loads(this.frame);
        }

        draw() {
            const loads = this.loads(), most = this.full && !this.ofJob ? 1 : this.ofJob ? this.scene.highest(loads) || 1 : this.most();
            this.top.textContent = mars.percent(most) + " busy" + (this.ofJob ? " with " + this.job : "");
            const context = mars.canvasOf(this.canvas, this.width, this.height);
            this.scene.draw(context, this.view, { loads, class: this.class, share: load => load / most });
        }

        zoom(factor, x = this.width / 2, y = this.height / 2) {
            const view = this.view;
            view.x = x - (x - view.x) * factor;
            view.y = y - (y - view.y) * factor;
            view.scale *= factor;
            this.draw();
        }

        move(dx, dy) {
            this.view.x += dx;
            this.view.y += dy;
            this.draw();
        }

        listen() {
            const canvas = this.canvas, moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
            mars.drags(canvas, (dx, dy) => this.move(dx, dy));
            mars.hints(canvas, (x, y) => {
                const found = this.scene.find(this.view, x, y, this.class);
                return found && this.scene.tell(found, this.loads(), this.frame < 0);
            });
            canvas.addEventListener("wheel", event => {
                if (event.ctrlKey) {
                    event.preventDefault();
                    this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.offsetX, event.offsetY);
                }
            }, { passive: false });
            canvas.addEventListener("keydown", event => {
                if (moves[event.key])
                    this.move(...moves[event.key]);
                else if (event.key === "+" || event.key === "=")
                    this.zoom(1.4);
                else if (event.key === "-")
                    this.zoom(1 / 1.4);
                else if (event.key === "0" || event.key === "Escape")
                    this.resize();
                else
                    return;
                event.preventDefault();
            });
        }
    }

    mars.panel({
        id: "topology", sums: true, tab: "network", network: true, title: "Links on the machine", wide: true,
        build(box, run, index) {
            if (run.scene)
                new View(box, run, index);
            else
                box.append(mars.missing("There is no table of links.", "output.links = true"));
        },
    });
})();
