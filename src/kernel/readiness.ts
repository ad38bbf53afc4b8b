/** What a look at one condition found; texts are for operators. A warning still counts as right. */
export interface ReadinessResult {
  readonly ok: boolean;
  readonly detail?: string;
  readonly warning?: string;
}

/** One thing that an operator must know of. Not `ok` takes the process out of service: only for what leaves nothing to serve. */
export interface ReadinessCheck {
  readonly name: string;
  /** False: when the check itself fails or takes too long, that is a warning. Default true. */
  readonly vital?: boolean;
  readonly check: () => Promise<ReadinessResult>;
}
