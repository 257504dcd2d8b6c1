import { assertNever } from '../lib/assert-never.ts'
import type { JsonObject } from '../lib/json.ts'
import { findFieldProblem, findShapeProblem, type ShapeProblem } from '../lib/shape-problem.ts'
import { trimCloudUrl } from '../lib/urls.ts'
import { findProviders } from '../protocols/providers/prefix-conflict.ts'
import { getCompatibleFormat } from '../protocols/providers/target.ts'
import { defaultHealthTerms } from '../request/routing/failure-class.ts'
import { findCycle, formatCycle, isDirectModel } from '../request/routing/named-models.ts'
import { comboFields } from '../types/records/combo-fields.ts'
import { connectionFields, dataMembers, topLevelMembers } from '../types/records/connection-fields.ts'
import { groupFields } from '../types/records/group-fields.ts'
import { aliasFields, customModelFields } from '../types/records/model-fields.ts'
import type { RecordField, RecordFields, WriteOperation } from '../types/records/record-fields.ts'
import { comboRuleShapes } from '../types/records/rule-fields.ts'
import { settingsFields } from '../types/records/settings-fields.ts'
import type { Catalog, Combo } from '../types.ts'

/** The sections of a configuration. */
export const configSections = [
  'connections',
  'combos',
  'aliases',
  'models',
  'groups',
  'plans',
  'guards',
  'settings',
] as const

export type ConfigSection = (typeof configSections)[number]

/** Checks a record of a section. Throws a TypeError that begins with the place of the mistake. */
export function checkRecord(section: ConfigSection, place: string, input: JsonObject, catalog: Catalog): void {
  const found = findRecordProblem(section, input)
  if (found) fail(place + found.path, found.problem)
  if (section === 'connections') requireProvider(place, input, catalog)
}

function findRecordProblem(section: ConfigSection, input: JsonObject): ShapeProblem | undefined {
  switch (section) {
    case 'connections':
      return findInputProblem(connectionFields, 'create', input, topLevel)
    case 'combos':
      return findInputProblem(unnamedCombo, 'create', input) ?? findComboProblem(input as CheckedCombo) // just checked
    case 'aliases':
      return findShapeProblem(aliasFields.model.shape, input.model)
    case 'models':
      return findInputProblem(customModelFields, 'create', input)
    case 'groups':
    case 'plans':
      return findInputProblem(groupFields, 'create', input)
    case 'guards':
      return undefined // checked where guards are created, because few gateways need the code for it
    case 'settings':
      return findInputProblem(settingsFields, 'update', input) ?? findSettingsProblem(input)
    default:
      return assertNever(section)
  }
}

type CheckedCombo = Pick<Combo, 'kind' | 'models' | 'on'>

function findComboProblem({ kind = 'llm', models, on = [] }: CheckedCombo): ShapeProblem | undefined {
  if (new Set(on).size < on.length) return { path: '.on', problem: 'must not contain duplicates' }
  const at = kind === 'llm' ? -1 : models.findIndex((entry) => typeof entry === 'object' && entry.params)
  return at < 0 ? undefined : { path: `.models[${at}].params`, problem: 'is only for chat combos ("kind": "llm")' }
}

function findSettingsProblem({ cloudUrl, health }: JsonObject): ShapeProblem | undefined {
  const terms = { ...defaultHealthTerms, ...Object(health) }
  return (
    findShapeProblem(comboRuleShapes.health, terms, '.health') ??
    (typeof cloudUrl === 'string' && cloudUrl !== ''
      ? findShapeProblem(dataMembers.baseUrl.shape, trimCloudUrl(cloudUrl), '.cloudUrl')
      : undefined)
  )
}

/** The names that lead to others: combos and aliases, by name. Combos take precedence. */
export interface LeadingNames {
  combos: ReadonlyMap<string, readonly string[]>
  aliases: ReadonlyMap<string, string>
}

/** Checks that no name leads back to itself. Throws a TypeError that shows the way. */
export function checkCycles({ combos, aliases }: LeadingNames): void {
  const next = new Map(combos)
  for (const [alias, model] of aliases)
    if (!combos.has(alias) && !(alias === model && isDirectModel(model))) next.set(alias, [model])
  for (const name of next.keys()) {
    const cycle = findCycle(name, next)
    if (cycle)
      fail(`${combos.has(name) ? 'combos' : 'aliases'}.${name}`, `must not lead back to itself: ${formatCycle(cycle)}`)
  }
}

/** A combo's name is its key in the section. */
const { name: _, ...unnamedCombo } = comboFields

/** The fields of `providerSpecificData` that can also be at the top level of a connection. */
export const topLevel = Object.fromEntries(topLevelMembers.map((name) => [name, dataMembers[name]]))

/** Checks the fields of an operation's input, plus the additional fields in `more`. */
function findInputProblem(
  fields: RecordFields,
  operation: WriteOperation,
  input: JsonObject,
  more = {},
): ShapeProblem | undefined {
  const known = Object.entries<RecordField>(fields).flatMap(([name, { inputs, shape }]) => {
    const fieldInput = inputs?.[operation]
    const way = typeof fieldInput === 'object' ? fieldInput.as : fieldInput
    if (way === undefined || way === 'refused' || name === 'discover') return []
    return [[name, { shape, isOptional: way !== 'required' }]]
  })
  return findFieldProblem({ ...Object.fromEntries(known), ...more }, input)
}

function requireProvider(place: string, input: JsonObject, catalog: Catalog): void {
  const provider = String(input.provider)
  const { baseUrl } = { ...Object(input.providerSpecificData), ...input }
  if (findProviders(catalog, provider).length === 1 || getCompatibleFormat(provider) || baseUrl !== undefined) return
  const similar = Object.keys(catalog).filter((id) => id.slice(0, 2) === provider.slice(0, 2).toLowerCase())
  const hint = similar.length > 0 ? `Known providers that start like it: ${similar.join(', ')}. ` : ''
  throw new TypeError(`${place}: unknown provider "${provider}". ${hint}For any other provider, set "baseUrl".`)
}

/** Throws a TypeError about a place in the configuration. */
export function fail(place: string, problem: string): never {
  throw new TypeError(`${place} ${problem}${problem.endsWith('?') ? '' : '.'}`)
}
