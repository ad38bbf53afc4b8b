/** Readiness, and its progress figures. */
type Line = Readonly<Record<string, unknown>>;

export async function readLines(managementUrl: string): Promise<{ status: number; lines: Record<string, Line> }> {
  const response = await fetch(`${managementUrl}/health/ready`);
  const { checks }: { checks: ({ name: string } & Line)[] } = JSON.parse(await response.text());
  return { status: response.status, lines: Object.fromEntries(checks.map(({ name, ...line }) => [name, line])) };
}

/** @returns `undefined` when everything is read */
export function progressOf(line: Line | undefined): { readonly read: number; readonly of: number } | undefined {
  const [, read, of] = /^(\d+) of (\d+) records read/.exec(String(line?.warning)) ?? [];
  return read === undefined ? undefined : { read: Number(read), of: Number(of) };
}
