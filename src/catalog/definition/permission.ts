// A permission of a user: what it opens, and for whom it was said in which words.
import type { Serial } from '../../engine/engine.js';
import type { PartitionKey } from '../../value/partition-key.js';

export type PermissionMode = 'Read' | 'All';
/** The kinds of resources inside a container that a permission can be for. */
export const PERMITTED_KINDS = ['docs', 'sprocs', 'triggers', 'udfs'] as const;
export type PermittedKind = (typeof PERMITTED_KINDS)[number];

export interface Permission {
  readonly permissionMode: PermissionMode;
  /** As the client wrote it: a path of names, or of resource ids. */
  readonly resource: string;
  /** As the client wrote it, in the form of the header. */
  readonly resourcePartitionKey?: readonly unknown[];
  readonly scope: Scope;
}

/**
 * What it opens: a container, by its number, so that another one of the same name stays closed; or
 * one resource in it; of a container or an item, one logical partition only.
 */
export interface Scope {
  readonly container: Serial;
  readonly kind?: PermittedKind;
  readonly id?: string;
  /** Stored as JSON, where a missing component is an empty object. */
  readonly partition?: readonly unknown[];
}

export function scopedPartition({ partition }: Scope): PartitionKey | undefined {
  return partition?.map((each) => (typeof each === 'object' && each !== null ? undefined : each)) as
    | PartitionKey
    | undefined;
}
