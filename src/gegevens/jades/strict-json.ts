const maxDepth = 16;
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/gs;

/** A JSON object as read: no member has been interpreted yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Parses a JSON object and refuses a member that occurs twice, at any level and however it is escaped: two readers of
 * the same signed text must never see different values (RFC 7515 section 4).
 * @throws SyntaxError
 */
export function parseStrictObject(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new SyntaxError('not a JSON object');
  refuseDuplicates(text);
  return value;
}

/** `text` is valid JSON, so a string directly before a colon is the name of a member of the innermost object. */
function refuseDuplicates(text: string): void {
  const open: Set<string>[] = [];
  let last = '';
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{' || token === '[') {
      open.push(new Set());
      if (open.length > maxDepth) throw new SyntaxError('nested too deeply');
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (token === ':') {
      const name = String(JSON.parse(last));
      const names = open.at(-1);
      if (names?.has(name)) throw new SyntaxError(`member ${JSON.stringify(name)} occurs twice`);
      names?.add(name);
    } else {
      last = token;
    }
  }
}
