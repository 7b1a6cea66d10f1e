/** The number of the one partition that a server with its own data folder runs. */
export const EMBEDDED_PARTITION = 0;
