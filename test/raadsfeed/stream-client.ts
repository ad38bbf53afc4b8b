import { request } from 'node:http';

export interface StreamEvent {
  readonly id: number;
  readonly event: string;
  readonly data: string;
}

export interface StreamClient {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly events: StreamEvent[];
  /** Everything received, including comments. */
  readonly raw: () => string;
  /** Resolves once there are this many events; rejects when the stream ends first. */
  waitFor(count: number): Promise<StreamEvent[]>;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Opens a stream of server-sent events, as a browser would. */
export function openStream(url: string, headers: Record<string, string> = {}): Promise<StreamClient> {
  return new Promise((resolve, reject) => {
    const call = request(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false }, (response) => {
      const events: StreamEvent[] = [];
      const pieces: string[] = [];
      let unread: string[] = [];
      let over = false;
      const waiting = new Set<() => void>();
      const wake = (): void => {
        for (const check of waiting) check();
      };
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        pieces.push(text);
        // Searches only the new piece: rescanning a large event for each piece would take seconds.
        const hasEnd = text.includes('\n\n') || (text.startsWith('\n') && unread.at(-1)?.endsWith('\n') === true);
        unread.push(text);
        if (!hasEnd) return;
        const blocks = unread.join('').split('\n\n');
        unread = [blocks.pop() ?? ''];
        for (const block of blocks) {
          const event = parse(block);
          if (event !== undefined) events.push(event);
        }
        wake();
      });
      const ended = new Promise<void>((done) => {
        response.on('close', () => {
          over = true;
          wake();
          done();
        });
      });
      response.on('error', () => undefined);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        events,
        raw: () => pieces.join(''),
        ended,
        waitFor: (count) =>
          new Promise((found, lost) => {
            const check = (): void => {
              if (events.length < count && !over) return;
              waiting.delete(check);
              if (events.length >= count) found(events);
              else lost(new Error(`the stream ended after ${events.length} events: ${pieces.join('').slice(0, 500)}`));
            };
            waiting.add(check);
            check();
          }),
        close: () => call.destroy(),
      });
    });
    call.on('error', reject);
    call.end();
  });
}

function parse(block: string): StreamEvent | undefined {
  const fields = new Map(
    block.split('\n').flatMap((line) => {
      const at = line.indexOf(':');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1).trimStart()] as const] : [];
    }),
  );
  const id = fields.get('id');
  if (id === undefined) return undefined;
  return { id: Number(id), event: fields.get('event') ?? 'message', data: fields.get('data') ?? '' };
}
