export { Server, type ServerOptions } from './server.ts';
