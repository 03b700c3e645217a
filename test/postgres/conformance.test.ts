// The Cosmos face on PostgreSQL, but for queries.
import { describeConformance } from './conformance.suite.js';

describeConformance('conformance', (file) => !file.startsWith('query'));
