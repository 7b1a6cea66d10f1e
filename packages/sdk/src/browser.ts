export { Sluice } from './browser/sluice.ts';
export * from './surface.ts';
