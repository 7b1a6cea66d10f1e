export { Sluice } from './node/sluice.ts';
export * from './surface.ts';
