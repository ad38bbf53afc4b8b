import type { DemoPart } from './demo-part.ts';
import * as diwoo from './parts/diwoo.ts';
import * as inzage from './parts/inzage.ts';
import * as ldv from './parts/ldv.ts';
import * as pages from './parts/pages.ts';
import * as proof from './parts/proof.ts';
import * as suppliers from './parts/suppliers.ts';
import * as tools from './parts/tools.ts';

/** The demo's parts for the features, in the order of the tour. */
export const DEMO_PARTS: readonly DemoPart[] = [suppliers, tools, diwoo, inzage, ldv, pages, proof];
