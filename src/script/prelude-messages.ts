// The request and the response as scripts see them. Like all of the prelude, these functions run
// inside the sandbox and may use nothing from outside.
import type { Setting } from './prelude.js';
import { refusal } from './prelude-globals.js';

/** A body and named values; `Body` is the body under a name. */
export interface Message {
  readonly face: object;
  outcome(): object;
}

export function requestFor(setting: Setting): Message {
  const { requestBody, operation } = setting;
  const values: Record<string, string> = { ...setting.requestValues };
  let body = requestBody === undefined ? undefined : JSON.parse(requestBody);
  const isBody = (name: unknown) => String(name).toLowerCase() === 'body';
  const setBody = (value: unknown) => {
    if (setting.kind !== 'preTrigger' || operation === 'Delete') {
      throw refusal(400, 'Only a pre-trigger of a write can change the body of its request.');
    }
    body = value;
  };
  const face = {
    getBody: () => body,
    setBody,
    getValue: (name: unknown) => (isBody(name) ? body : values[String(name).toLowerCase()]),
    setValue: (name: unknown, value: unknown) => {
      if (isBody(name)) setBody(value);
      else values[String(name).toLowerCase()] = String(value);
    },
    appendValue: (name: unknown, value: unknown) => {
      const before = face.getValue(name);
      face.setValue(name, before === undefined ? value : String(before) + String(value));
    },
    getOperationType: () => operation,
  };
  return {
    face,
    outcome: () => ({ requestBody: JSON.stringify(body), requestValues: values }),
  };
}

export function responseFor(setting: Setting): Message {
  const { responseBody } = setting;
  const values: Record<string, string> = {};
  let body = responseBody === undefined ? undefined : JSON.parse(responseBody);
  const isBody = (name: unknown) => String(name).toLowerCase() === 'body';
  const face = {
    getBody: () => body,
    setBody: (value: unknown) => {
      body = value;
    },
    getValue: (name: unknown) => (isBody(name) ? body : values[String(name).toLowerCase()]),
    setValue: (name: unknown, value: unknown) => {
      if (isBody(name)) body = value;
      else if (
        /^x-(?!ms-)[\w-]{1,100}$/i.test(String(name)) &&
        /^[ -~]{0,1000}$/.test(String(value))
      ) {
        values[String(name).toLowerCase()] = String(value);
      } else {
        const rule = "A script sets 'Body' and headers that begin with 'x-' but not with 'x-ms-'.";
        throw refusal(400, `The response value '${String(name)}' cannot be set. ${rule}`);
      }
    },
    appendValue: (name: unknown, value: unknown) => {
      const before = face.getValue(name);
      face.setValue(name, before === undefined ? value : String(before) + String(value));
    },
    getMaxResourceQuota: () => 'documentSize=10240;documentsSize=10485760;collectionSize=10485760;',
    getResourceQuotaCurrentUsage: () => 'documentSize=0;documentsSize=0;collectionSize=0;',
  };
  return {
    face,
    outcome: () => ({ responseBody: JSON.stringify(body), responseValues: values }),
  };
}
