// The texts of --help.
import { environmentName, optionTable } from './options.js';

export function helpText(): string {
  const left = optionTable.map(({ name, value }) => `  --${name}${value ? ` ${value}` : ''}`);
  const width = Math.max(...left.map((text) => text.length)) + 2;
  const rows = optionTable.map(
    ({ help, repeated }, index) =>
      `${(left[index] ?? '').padEnd(width)}${help}${repeated ? ', repeatable' : ''}`,
  );
  return `Mayfly: a document database in which every document knows when it dies.

Usage: mayfly start [options]
       mayfly migrate --from DIR|postgres://… --to DIR|postgres://…

Starts a server that speaks the Azure Cosmos DB for NoSQL REST API, and MongoDB on a port of
its own.

Options (defaults in brackets):
${rows.join('\n')}
${'  --help'.padEnd(width)}this text
${'  --version'.padEnd(width)}the version

Each option is also an environment variable: --log-level is ${environmentName('log-level')}. Lists are separated by commas.

Examples:
  mayfly start                                   serve on http://127.0.0.1:8081, data in ./mayfly-data
  mayfly start --data :memory: --port 0          a throwaway server on a free port
  mayfly start --store postgres://me@db/mayfly   documents in PostgreSQL, as many servers as wanted
  mayfly start --clock virtual                   test expiry: curl -X POST …/_mayfly/clock -d '{"advance":"90d"}'
  mayfly start --host 0.0.0.0 --key "$(openssl rand -base64 48)"
`;
}
