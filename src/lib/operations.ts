/** The result of a check, with texts for operators. A warning still counts as ok. */
export interface ReadinessResult {
  readonly ok: boolean;
  readonly detail?: string;
  readonly warning?: string | undefined;
}

/** A readiness check. A result other than `ok` takes the process out of service, so only for conditions that leave nothing to serve. */
export interface ReadinessCheck {
  readonly name: string;
  /** False: a check that fails or takes too long gives a warning only. Default true. */
  readonly vital?: boolean;
  /** Runbook heading with instructions (as in its address); absent: "Other conditions". */
  readonly runbook?: string;
  readonly check: () => Promise<ReadinessResult>;
}

/** A cell of the operator's page; a moment is shown with its age. */
export type OperatorCell = string | number | Date;

/** A table on the operator's page, without secrets and without personal data. */
export interface OperatorSection {
  readonly title: string;
  readonly read: () => Promise<{
    readonly columns: readonly string[];
    readonly rows: readonly (readonly OperatorCell[])[];
  }>;
}

export interface FrontEntry {
  readonly href: string;
  readonly title: string;
  readonly text: string;
}

/** Full addresses of site maps, for `/robots.txt`. */
export type SiteMaps = () => Promise<readonly string[]>;
