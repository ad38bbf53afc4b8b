/** Which Woo category a document gets; names are compared without regard to case. */
export interface WooCategories {
  /** By the document's own type (`Raadsvoorstel`); takes precedence over that of a register. */
  readonly byType: ReadonlyMap<string, string>;
  /** By the register that holds it, its name or its number. */
  readonly byRegister: ReadonlyMap<string, string>;
}

/**
 * Reads configured lines `name=code`.
 * @throws {TypeError} for a line of another form
 */
export function wooCategories(byType: readonly string[], byRegister: readonly string[]): WooCategories {
  return { byType: readLines(byType), byRegister: readLines(byRegister) };
}

function readLines(lines: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    lines.map((line) => {
      const [, name, code] = /^\s*(\S.*?)\s*=\s*(\S+)\s*$/.exec(line) ?? [];
      if (name === undefined || code === undefined) throw new TypeError(`not name=code: ${line}`);
      return [name.toLowerCase(), code];
    }),
  );
}

export function categoryOfType(categories: WooCategories, type: string | undefined): string | undefined {
  return type === undefined ? undefined : categories.byType.get(type.toLowerCase());
}

export function categoryOfRegister(categories: WooCategories, id: string, name: string): string | undefined {
  return categories.byRegister.get(name.toLowerCase()) ?? categories.byRegister.get(id);
}
