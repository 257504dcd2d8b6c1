import type { Store } from '../records/store.ts'
import { createInputError } from './input.ts'

/** Throws `INVALID_REQUEST` if an input names guards that don't exist. */
export async function requireGuards(
  { guards: records }: Pick<Store, 'guards'>,
  record: { guards?: readonly string[] | null | undefined; guardsExcept?: readonly string[] | null | undefined },
): Promise<void> {
  for (const field of ['guards', 'guardsExcept'] as const)
    for (const name of record[field] ?? [])
      if (!(await records.get(name)))
        throw createInputError(
          `"${field}" names "${name}", but there is no such guard. Create it first: POST /api/guards`,
        )
}
