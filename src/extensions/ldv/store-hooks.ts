import type { StoreHooks } from '../../seams/store-hooks.ts';

/** @see StoreHooks */
export const forwardPolicy: StoreHooks['forwardPolicy'] = ({ ldvOut: { forwardUrl, forwardConfidential } }) =>
  forwardUrl === undefined ? undefined : forwardConfidential ? 'alles' : 'normaal';
