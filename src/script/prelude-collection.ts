// The collection as scripts see it: every operation is sent off, answers at once whether it was
// accepted, and calls back later. Runs inside the sandbox and may use nothing from outside.
import type { Callback, Setting, Submit } from './prelude.js';
import { refusal } from './prelude-globals.js';

type Rest = readonly unknown[];

export function collectionFor(setting: Setting, submit: Submit): Record<string, unknown> {
  /** Options and callback may each be left out. */
  const tail = (rest: Rest) => {
    const callback = rest.find((each) => typeof each === 'function') as Callback | undefined;
    const options = rest.find((each) => typeof each === 'object' && each !== null) ?? {};
    return { callback, options };
  };
  const need = (what: string, value: unknown, type: string) => {
    if (typeof value === type && value !== null) return;
    throw refusal(400, `${what} must be of the type ${type}, not ${String(value)}.`);
  };
  const onDocument = (name: string) => {
    return (link: unknown, ...rest: Rest) => {
      need('The link of a document', link, 'string');
      const { callback, options } = tail(rest);
      return submit(name, { link, options }, callback);
    };
  };
  const withBody = (name: string, what: string) => {
    return (link: unknown, body: unknown, ...rest: Rest) => {
      need(what, link, 'string');
      need('The body', body, 'object');
      const { callback, options } = tail(rest);
      return submit(name, { link, body, options }, callback);
    };
  };
  return {
    getSelfLink: () => setting.selfLink,
    getAltLink: () => setting.altLink,
    createDocument: withBody('create', 'The link of the collection'),
    upsertDocument: withBody('upsert', 'The link of the collection'),
    replaceDocument: withBody('replace', 'The link of a document'),
    patchDocument: withBody('patch', 'The link of a document'),
    readDocument: onDocument('read'),
    deleteDocument: onDocument('delete'),
    readDocuments: (link: unknown, ...rest: Rest) => {
      need('The link of the collection', link, 'string');
      const { callback, options } = tail(rest);
      return submit('query', { link, query: 'SELECT * FROM c', options }, callback);
    },
    queryDocuments: (link: unknown, query: unknown, ...rest: Rest) => {
      need('The link of the collection', link, 'string');
      if (typeof query !== 'string') need('The query', query, 'object');
      const { callback, options } = tail(rest);
      return submit('query', { link, query, options }, callback);
    },
  };
}
