/** One event of a stream (WHATWG, server-sent events): only what the feed uses. */
export interface StreamEvent {
  readonly id: string;
  readonly data: string;
}

/** Reads events from a stream of server-sent events until it ends; ending the iteration closes the connection. */
export async function* readEvents(url: string, lastEventId: string, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  const response = await fetch(url, {
    headers: { accept: 'text/event-stream', 'last-event-id': lastEventId },
    signal,
  });
  if (response.status !== 200 || response.body === null) throw new Error(`the stream answered ${response.status}`);
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const fields = Object.fromEntries(
        part.split('\n').map((line) => [line.split(': ', 1)[0] ?? '', line.slice(line.indexOf(': ') + 2)]),
      );
      if (fields.data !== undefined && fields.id !== undefined) yield { id: fields.id, data: fields.data };
    }
  }
}
