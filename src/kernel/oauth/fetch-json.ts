/** As much of `fetch` as is needed here, so that any implementation fits. */
export type FetchJson = (
  url: URL,
  init: { headers: Record<string, string>; redirect: 'error'; signal: AbortSignal },
) => Promise<{
  readonly status: number;
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
}>;

/** How a document of the issuer is fetched. */
export type FetchJsonOptions = { fetch: FetchJson; signal: AbortSignal };

/** A set of a hundred keys takes less than 100 KB. */
const maxBytes = 262_144;

/**
 * Fetches a JSON document of at most 256 KiB. Redirects are not followed: the address was configured or published.
 *
 * @throws {Error} for any status but 200, a larger document, or one that is not JSON
 */
export async function fetchJson(url: URL, options: FetchJsonOptions): Promise<unknown> {
  const response = await options.fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: options.signal,
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url.href} answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Error(`${url.href} is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (cause) {
    throw new Error(`${url.href} is not JSON`, { cause });
  }
}
