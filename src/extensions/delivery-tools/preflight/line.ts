/** What preflight says of one thing. */
export interface PreflightLine {
  readonly name: string;
  /** `not-checked`: it could not be looked at from here, or does not apply. Only `failed` counts as a failure. */
  readonly state: 'ok' | 'warning' | 'failed' | 'not-checked';
  readonly detail: string;
  /** What to do about it. */
  readonly todo?: string;
}

export function ok(name: string, detail: string): PreflightLine {
  return { name, state: 'ok', detail };
}

export function warning(name: string, detail: string, todo: string): PreflightLine {
  return { name, state: 'warning', detail, todo };
}

export function failed(name: string, detail: string, todo: string): PreflightLine {
  return { name, state: 'failed', detail, todo };
}

export function notChecked(name: string, detail: string, todo?: string): PreflightLine {
  return { name, state: 'not-checked', detail, ...(todo === undefined ? {} : { todo }) };
}

/** The work, or a rejection after so many milliseconds. What comes later is handed to `late`. */
export async function within<T>(ms: number, work: Promise<T>, late?: (value: T) => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      isLate = true;
      reject(new Error(`no answer within ${ms / 1000} s`));
    }, ms);
  });
  work.then(
    (value) => {
      if (isLate) late?.(value);
    },
    () => undefined,
  );
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** An address without what may be secret in it. */
export function shownAddress(address: string): string {
  const url = URL.parse(address);
  return url === null ? address : `${url.origin}${url.pathname === '/' ? '' : url.pathname}`;
}
