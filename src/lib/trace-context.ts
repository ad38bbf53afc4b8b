/** The trace of a request, and the calls that continue it. @see W3C Trace Context, level 2 */
import { randomUUID } from 'node:crypto';

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The span of this service's work on the request: 16 hexadecimal digits. */
  readonly spanId: string;
  /** The caller's; absent in a trace that begins here. */
  readonly parentSpanId?: string;
  /** Two hexadecimal digits: the flags of the caller that level 2 defines (sampled, random). */
  readonly flags: string;
  /** Additions of other systems, at most `MAX_STATE_LENGTH` characters. */
  readonly state?: string;
}

type TraceIds = Pick<TraceContext, 'traceId' | 'spanId' | 'parentSpanId'>;

/** Version, trace, span, flags; a later version may add members after another hyphen. */
const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;
const KNOWN_FLAGS = 0x03;
/** The last seven bytes of our trace ids are random: those of a UUID, which Node makes 128 at a time. */
const RANDOM_FLAG = '02';

/** The trace in the headers of a request, else a new one (Node joins several with a comma: malformed). @param id a random UUID for that */
export function readTraceContext(traceparent: unknown, tracestate?: unknown, id?: string): TraceContext {
  const [, version, traceId = '', parentSpanId = '', flags = '', more] =
    (typeof traceparent === 'string' ? PARENT.exec(traceparent) : null) ?? [];
  const isValid =
    version !== undefined &&
    version !== 'ff' &&
    !(version === '00' && more !== undefined) &&
    !ZEROS.test(traceId) &&
    !ZEROS.test(parentSpanId);
  if (!isValid) return newTraceContext(id);
  const state = typeof tracestate === 'string' ? readState(tracestate) : undefined;
  return {
    traceId,
    spanId: newSpanId(),
    parentSpanId,
    flags: (Number.parseInt(flags, 16) & KNOWN_FLAGS).toString(16).padStart(2, '0'),
    ...(state === undefined ? {} : { state }),
  };
}

export function newTraceContext(id: string = randomUUID()): TraceContext {
  return { traceId: id.replaceAll('-', ''), spanId: newSpanId(), flags: RANDOM_FLAG };
}

function newSpanId(): string {
  const id = randomUUID();
  return id.slice(19, 23) + id.slice(24);
}

const MAX_STATE_LENGTH = 512;
const MAX_ENTRIES = 32;
const ENTRY = /^([a-z0-9][a-z0-9_*/@-]{0,255})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** `tracestate`, cut to its maximum by whole entries; undefined when malformed or empty. The trace itself does not depend on it. */
function readState(text: string): string | undefined {
  const entries = text.split(',', MAX_ENTRIES + 1).map((entry) => entry.trim());
  const present = entries.filter((entry) => entry !== '');
  const keys = present.map((entry) => ENTRY.exec(entry)?.[1]);
  if (present.length === 0 || present.length > MAX_ENTRIES || new Set(keys).size < keys.length) return undefined;
  if (keys.includes(undefined)) return undefined;
  while (present.join(',').length > MAX_STATE_LENGTH) present.pop();
  return present.join(',') || undefined;
}

/** The headers that continue a trace: the called operation becomes a child of our span. */
export function traceHeaders({ traceId, spanId, flags, state }: TraceContext): Record<string, string> {
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(state === undefined ? {} : { tracestate: state }),
  };
}

export function traceIds({ traceId, spanId, parentSpanId }: TraceContext): TraceIds {
  return parentSpanId === undefined ? { traceId, spanId } : { traceId, spanId, parentSpanId };
}

/** Whether calls to an address carry the trace: only below a listed one. */
export function carriesTrace(address: string, allowed: readonly string[]): boolean {
  const target = new URL(address);
  return allowed.some((one) => {
    const { origin, pathname } = new URL(one);
    const path = pathname.replace(/(?<!\/)\/+$/, '');
    return target.origin === origin && (target.pathname === path || target.pathname.startsWith(`${path}/`));
  });
}
