// What somebody got wrong on the command line: told without a stack, with a hint to --help.
export class UsageError extends Error {}
