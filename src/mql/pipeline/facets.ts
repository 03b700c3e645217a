// `$facet`: several pipelines over the same rows, side by side in one document.
import { DOCUMENT_BYTES_MAX } from '../../value/bson/validate.js';
import type { Document } from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { Row } from '../row.js';
import { gather, rowsOf } from './flow.js';
import { needDocument } from './simple.js';
import type { Stages } from './stage.js';

export const facetStages: Stages = {
  $facet: (operand, { inner, language }) => {
    const spec = needDocument(operand, '$facet');
    if (spec.size === 0) {
      throw mongoLocation(40169, 'the $facet specification must be a non-empty object');
    }
    const facets = [...spec].map(([name, stages]) => {
      return [name, inner(stages, language, '$facet')] as const;
    });
    return async function* (input, run) {
      const rows = await gather(input, run, '$facet');
      const document: Document = new Map();
      for (const [name, pipeline] of facets) {
        const found = await gather(pipeline(rowsOf(rows), run), run, '$facet');
        document.set(
          name,
          found.map((row) => row.document),
        );
      }
      const row = Row.ofDocument(document);
      if (row.bytes.length > DOCUMENT_BYTES_MAX) {
        throw mongoFailure(
          'BSONObjectTooLarge',
          'the result of $facet is larger than a document may be',
        );
      }
      yield [row];
    };
  },
};
