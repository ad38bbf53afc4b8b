export { rewriteParts } from './text-partitions.ts';
