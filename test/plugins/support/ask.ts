import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { isRecord } from '../../../src/lib/json/json-value.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The members of a JSON object, or none. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** One request as a client would send it; redirects are not followed. */
export async function ask(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const received = await response.text();
  const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '');
  const body: unknown = isJson && received !== '' ? JSON.parse(received) : undefined;
  return { status: response.status, headers: response.headers, text: received, body: isRecord(body) ? body : {} };
}

/** A JSON body for `ask`. */
export function post(body: string | Uint8Array<ArrayBuffer>, type = 'application/json'): RequestInit {
  return { method: 'POST', headers: { 'content-type': type }, body };
}

/** Sends bytes over a new connection and returns everything received until the server closes it. */
export async function sendRaw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  return text(socket);
}
