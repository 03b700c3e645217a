// The MongoDB face on PostgreSQL, with the real drivers.
import { describeConformance } from './conformance.suite.js';

describeConformance('mongo');
