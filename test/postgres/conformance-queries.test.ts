// Queries of the Cosmos face on PostgreSQL.
import { describeConformance } from './conformance.suite.js';

describeConformance('conformance', (file) => file.startsWith('query'));
