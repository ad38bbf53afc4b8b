/** What the parts of the service report to operators (readiness checks, sections of the operator's page), and to who comes to its root. */

/** The result of a check, with texts for operators. A warning still counts as ok. */
export interface ReadinessResult {
  readonly ok: boolean;
  readonly detail?: string;
  readonly warning?: string | undefined;
}

/** A readiness check. A result that is not `ok` takes the process out of service: only for what leaves nothing to serve. */
export interface ReadinessCheck {
  readonly name: string;
  /** False: a check that fails or takes too long gives a warning only. Default true. */
  readonly vital?: boolean;
  /** Heading of the runbook (as in its address) that says what to do; absent: "Other conditions". */
  readonly runbook?: string;
  readonly check: () => Promise<ReadinessResult>;
}

/** What a cell of the operator's page shows; a moment is shown with how long ago it was. */
export type OperatorCell = string | number | Date;

/** A table on the operator's page, without secrets and without personal data. */
export interface OperatorSection {
  readonly title: string;
  /** Reads it now; one that fails or takes too long is shown with the reason instead. */
  readonly read: () => Promise<{
    readonly columns: readonly string[];
    readonly rows: readonly (readonly OperatorCell[])[];
  }>;
}

/** Something for people that the page at the root of the host leads to. */
export interface FrontEntry {
  readonly href: string;
  readonly title: string;
  readonly text: string;
}

/** Full addresses of site maps, for `/robots.txt`. */
export type SiteMaps = () => Promise<readonly string[]>;
