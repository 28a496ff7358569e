"""marsresult - the result folder of a marssim run as pandas tables.

    import marsresult
    run = marsresult.read("results/fat-tree")
    print(run["links"].nlargest(10, "utilisation"))

A folder holds summary.json, tables as NAME.csv or NAME.json, and with output.hdf5 = true results.h5 (docs/results.md). A table
is read when it is asked for, from whichever of them has it. Debian's python3-pandas is needed, and python3-h5py for results.h5.
"""
import fcntl
import json
import os

import pandas

__all__ = ["read", "Result", "Error"]


class Error(Exception):
    """The folder, or a file in it, cannot be read; the text says why."""


class Result:
    """What a run has left. Tables are DataFrames: run["links"].

    result, input, run: the objects of summary.json; of a run that was killed what was known when it began (started.json), or {}.
    partial: the run was killed before it could write its summary; series and periods are there up to then.
    state: "ended", "failed" (error says why, where it is known), "running", or "killed".
    configuration: all keys as they were resolved, as text.
    """

    def __init__(self, folder):
        self.folder = os.fspath(folder)
        if not os.path.isdir(self.folder):
            raise Error(f"{self.folder}: there is no such folder")
        self._tables, self._meta = {}, {}
        summary = self._summary()
        self.partial = summary is None
        failed = self._known("failed.json")
        self.error = failed.get("error", "")
        self.state = "failed" if failed else "ended" if summary else "running" if self._locked() else "killed"
        summary = summary or failed or self._known("started.json")
        self.result, self.input, self.run = (summary.get(part, {}) for part in ("result", "input", "run"))
        if self.partial and not summary and not self.tables:
            raise Error(f"{self.folder}: no results of marssim: neither summary.json, nor tables, nor results.h5")

    # ---- tables ----

    @property
    def tables(self):
        """The names of all tables there are."""
        names = {name[: -len(end)] for name in os.listdir(self.folder) for end in (".csv", ".json") if name.endswith(end)}
        names -= {"summary", "started", "failed", "timeline"}
        try:
            with self._hdf5() as file:
                names.update(name for name, group in file.items() if hasattr(group, "items"))
        except (FileNotFoundError, ImportError):
            pass
        return sorted(names)

    def __contains__(self, name):
        return name in self.tables

    def __getitem__(self, name):
        if name not in self._tables:
            self._tables[name] = self._read(name)
        return self._tables[name]

    def get(self, name, default=None):
        """The table, or the default when it was not written."""
        return self[name] if name in self else default

    def units(self, name):
        """Units by column, where they are known: of tables in JSON or in results.h5."""
        self[name]
        return self._meta.get(name, {})

    def series(self, name, column):
        """A column of a series as a matrix: a row for each period, by its end (time_ps), a column for each object; 0 where
        nothing happened."""
        table = self[name]
        if "time_ps" not in table.columns:
            raise Error(f"{self.folder}: {name} is no series: it has no column time_ps")
        if column not in table.columns:
            raise Error(f"{self.folder}: {name} has no column {column}; it has {', '.join(table.columns)}")
        names = self._axes(name, table)
        if not names:
            return table.set_index("time_ps")[[column]]
        return table.pivot(index="time_ps", columns=names, values=column).fillna(0)

    @property
    def configuration(self):
        path = os.path.join(self.folder, "system.cfg")
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read()
        try:
            with self._hdf5() as file:
                return _text(file.attrs["configuration"] if "configuration" in file.attrs else file["configuration"][()])
        except (FileNotFoundError, ImportError, KeyError):
            return ""

    def __repr__(self):
        said = self.result.get("end_reason", "") if self.state == "ended" else self.state
        return f"<marsresult {self.folder} ({said}): {', '.join(self.tables)}>"

    # ---- files ----

    def _summary(self):
        path = os.path.join(self.folder, "summary.json")
        if not os.path.exists(path):
            return None
        summary = _json(path)
        if not isinstance(summary, dict) or not isinstance(summary.get("result"), dict):
            raise Error(f"{path}: is no summary of marssim")
        return summary

    def _known(self, name):
        path = os.path.join(self.folder, name)
        known = _json(path) if os.path.exists(path) else {}
        return known if isinstance(known, dict) else {}

    def _locked(self):
        """Whether a process that writes the results has the folder's lock."""
        try:
            with open(os.path.join(self.folder, ".lock"), "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def _hdf5(self):
        path = os.path.join(self.folder, "results.h5")
        if not os.path.exists(path):
            raise FileNotFoundError(path)
        os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # the run may still be writing
        import h5py

        try:
            return h5py.File(path, "r")
        except OSError as why:
            raise Error(f"{path}: {why}") from None

    def _axes(self, name, table):
        """The columns that name an object, without the time."""
        known = {"link_series": ["from_kind", "from", "from_port"]}.get(name)
        if known is None:
            ends = [end + level for level in ("node", "board", "rack", "task") for end in ("from_", "to_")]
            known = [c for c in ("job", "switch", "node", "adapter", "task", "function", "kind", *ends) if c in table.columns]
        return known

    def _read(self, name):
        for end, reader in ((".csv", _csv), (".json", self._json_table)):
            path = os.path.join(self.folder, name + end)
            if os.path.exists(path) and name != "summary":
                return reader(path) if end == ".csv" else reader(path, name)
        try:
            with self._hdf5() as file:
                if name in file:
                    return self._hdf5_table(file[name], name)
        except FileNotFoundError:
            pass
        except ImportError:
            raise Error(f"{self.folder}: {name} may be in results.h5, which wants python3-h5py") from None
        raise Error(f"{self.folder}: has no table {name}; it has {', '.join(self.tables)}")

    def _json_table(self, path, name):
        whole = _json(path)
        try:
            columns = [column["name"] for column in whole["columns"]]
            self._meta[name] = {column["name"]: column["unit"] for column in whole["columns"]}
            return _tidy(pandas.DataFrame(whole["rows"], columns=columns))
        except (KeyError, TypeError, ValueError):
            raise Error(f"{path}: is no table of marssim") from None

    def _hdf5_table(self, group, name):
        order = _text(group.attrs["columns"]).split(",") if "columns" in group.attrs else list(group)
        data, units = {}, {}
        rows = min(len(group[column]) for column in order)  # of a run that was killed one column may be ahead
        for column in order:
            values = group[column][:rows]
            units[column] = _text(group[column].attrs.get("unit", ""))
            if values.dtype.kind == "S":
                values = [value.decode("utf-8", "replace") for value in values]
            elif values.dtype.kind == "i":
                values = pandas.array(values, dtype="Int64")
                values[values == -1] = pandas.NA
            data[column] = values
        self._meta[name] = units
        return pandas.DataFrame(data, columns=order)


def read(folder):
    """The results in this folder."""
    return Result(folder)


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _json(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (ValueError, OSError) as why:
        raise Error(f"{path}: {why}") from None


def _tidy(table):
    """Whole numbers with empty cells stay whole numbers."""
    for column in table.columns:
        values = table[column]
        if values.dtype.kind in "fO" and column.endswith(("_ps", "_ns")) and values.isna().any():
            table[column] = values.astype("Int64")
    return table


def _csv(path):
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            whole = pandas.read_csv(file, keep_default_na=False, na_values=[""], on_bad_lines="skip")
    except (ValueError, OSError) as why:
        raise Error(f"{path}: {why}") from None
    return _tidy(whole)
