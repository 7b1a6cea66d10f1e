export { EventStreamParser, type StreamEvent } from './event-stream.ts';
