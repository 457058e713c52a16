/** One family of series in the Prometheus text format, version 0.0.4. */
export interface Metric {
  name: string;
  help: string;
  type: "counter" | "gauge";
  series: { labels: { [name: string]: string }; value: number }[];
}

/** Families in their order, each with its HELP and TYPE line, also where it has no series. */
export function metricsText(metrics: readonly Metric[]): string {
  return metrics.map(familyText).join("");
}

function familyText({ name, help, type, series }: Metric): string {
  const head = `# HELP ${name} ${escaped(help, false)}\n# TYPE ${name} ${type}\n`;
  const lines = series.map(({ labels, value }) => `${name}${labelsText(labels)} ${value}\n`);
  return head + lines.join("");
}

function labelsText(labels: { [name: string]: string }): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value, true)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(text: string, quotes: boolean): string {
  const lines = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return quotes ? lines.replaceAll('"', '\\"') : lines;
}
