import { isObject, tryParseJson } from '../../lib/json.ts'
import type { CodeRecords } from '../../records/code-records.ts'
import { GUARDS_PREFIX, type StoredGuard } from '../../records/record-collections.ts'
import { type GuardOption, guardFields, guardKinds, sharedGuardFields } from '../../types/records/guard-fields.ts'
import { createGuard, type UnstoredGuard } from './named-guards.ts'

/**
 * Returns why a guard can't be used: an option that its kind requires is missing, an option belongs to another kind, or an option is invalid. Returns
 * `undefined` if the guard can be used.
 */
export async function findGuardProblem(record: UnstoredGuard): Promise<string | undefined> {
  const { kind } = record
  const kindOptions: Readonly<Record<string, GuardOption>> | undefined = Object.hasOwn(guardKinds, kind)
    ? guardKinds[kind]
    : undefined
  const presentFields = Object.keys(guardFields).filter(
    (name) => Object.hasOwn(record, name) && !GENERAL_FIELDS.has(name),
  )
  const unsupportedField = kindOptions && presentFields.find((name) => !Object.hasOwn(kindOptions, name))
  if (unsupportedField !== undefined)
    return `"${unsupportedField}" is not an option of the kind "${kind}", which has ${quoteNames(Object.keys(kindOptions ?? {}))}`
  const requiredOptions = Object.entries(kindOptions ?? {}).filter(([, { isOptional }]) => !isOptional)
  const missingOption = requiredOptions.find(([name]) => !Object.hasOwn(record, name))
  if (missingOption) return `"${missingOption[0]}" is required for the kind "${kind}"`
  try {
    await createGuard(record)
    return undefined
  } catch (error) {
    if (error instanceof TypeError) return error.message
    throw error
  }
}

/** Lists the problems with guards that are defined in code as records. */
export async function findCodeGuardProblems({ values }: Pick<CodeRecords, 'values'>): Promise<TypeError[]> {
  const problems = [...values].map(async ([key, text]) => {
    const storedValue = key.startsWith(GUARDS_PREFIX) ? tryParseJson(text) : undefined
    if (!isObject(storedValue) || !isObject(storedValue.record)) return []
    const record = storedValue.record as unknown as StoredGuard // `findGuardProblem` validates it below
    const problem = await findGuardProblem(record)
    return problem === undefined ? [] : [new TypeError(`guards.${record.name}: ${problem}`)]
  })
  return (await Promise.all(problems)).flat()
}

/** Fields common to all guard kinds. */
const GENERAL_FIELDS = new Set([
  ...['name', 'kind', 'source', 'createdAt', 'updatedAt', 'mac', 'sealedHeaders'],
  ...Object.keys(sharedGuardFields),
])

const quoteNames = (names: readonly string[]) =>
  names.length > 0 ? names.map((name) => `"${name}"`).join(', ') : 'only the options that all kinds have'
