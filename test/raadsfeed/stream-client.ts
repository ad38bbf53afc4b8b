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
  /** Everything that came, comments too. */
  readonly raw: () => string;
  /** Resolves once there are so many events; rejects when the stream ends before. */
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
      let raw = '';
      let unread = '';
      let over = false;
      const waiting = new Set<() => void>();
      const wake = (): void => {
        for (const check of waiting) check();
      };
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        raw += text;
        unread += text;
        for (let end = unread.indexOf('\n\n'); end !== -1; end = unread.indexOf('\n\n')) {
          const event = parse(unread.slice(0, end));
          if (event !== undefined) events.push(event);
          unread = unread.slice(end + 2);
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
        raw: () => raw,
        ended,
        waitFor: (count) =>
          new Promise((found, lost) => {
            const check = (): void => {
              if (events.length < count && !over) return;
              waiting.delete(check);
              if (events.length >= count) found(events);
              else lost(new Error(`the stream ended after ${events.length} events: ${raw.slice(0, 500)}`));
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
