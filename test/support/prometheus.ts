export interface Family {
  help: string;
  type: string;
  samples: { labels: { [name: string]: string }; value: number }[];
}

/**
 * Reads the Prometheus text format, version 0.0.4, and throws at whatever is not exactly as it has to be: order of
 * HELP and TYPE, names, labels, escapes, numbers, a series given twice.
 */
export function parsePrometheus(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  if (!text.endsWith("\n")) throw new Error("The last line does not end");
  let current: { name: string; family: Family; seen: Set<string> } | null = null;
  let help: { name: string; text: string } | null = null;
  for (const line of text.slice(0, -1).split("\n")) {
    const [, helped, words] =
      /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\]|\\\\|\\n)*)$/.exec(line) ?? [];
    const [, typed, type] =
      /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary|untyped)$/.exec(line) ??
      [];
    if (helped !== undefined) {
      if (help || families.has(helped)) throw new Error(`HELP is out of place: ${line}`);
      help = { name: helped, text: words ?? "" };
    } else if (typed !== undefined && type !== undefined) {
      if (help?.name !== typed) throw new Error(`TYPE without its HELP: ${line}`);
      const family: Family = { help: help.text, type, samples: [] };
      families.set(typed, family);
      current = { name: typed, family, seen: new Set() };
      help = null;
    } else {
      const [, name = "", labels, value = ""] =
        /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      if (help || !current || current.name !== name) throw new Error(`A stray line: ${line}`);
      if (!/^-?(\d+(\.\d+)?(e[+-]?\d+)?)$/.test(value)) throw new Error(`No number: ${line}`);
      const read = labels === undefined ? {} : labelsIn(labels);
      const series = JSON.stringify(Object.entries(read).sort());
      if (current.seen.has(series)) throw new Error(`A series twice: ${line}`);
      current.seen.add(series);
      current.family.samples.push({ labels: read, value: Number(value) });
    }
  }
  return families;
}

function labelsIn(text: string): { [name: string]: string } {
  const labels: { [name: string]: string } = {};
  let rest = text;
  while (rest !== "") {
    const [all = "", name = "", value = ""] =
      /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,(?=[a-zA-Z_])|$)/.exec(rest) ??
      [];
    if (all === "" || name in labels) throw new Error(`No labels: ${text}`);
    labels[name] = value.replaceAll(/\\(.)/g, (_, c: string) => (c === "n" ? "\n" : c));
    rest = rest.slice(all.length);
  }
  return labels;
}

/** The value of the one series with these labels. */
export function sample(
  families: Map<string, Family>,
  name: string,
  labels: { [name: string]: string } = {},
): number | undefined {
  const wanted = JSON.stringify(Object.entries(labels).sort());
  return families
    .get(name)
    ?.samples.find((one) => JSON.stringify(Object.entries(one.labels).sort()) === wanted)?.value;
}
