import { assertNever } from '../lib/assert-never.ts'
import { findNearestName } from '../lib/field-hints.ts'
import type { JsonObject } from '../lib/json.ts'
import { findFieldProblem, findShapeProblem, type ShapeProblem } from '../lib/shape-problem.ts'
import { CLOUD_ACTION_ONLY_MESSAGE, describeCooldowns, endSentence, findCloudUrlProblem } from '../lib/shape-texts.ts'
import { trimCloudUrl } from '../lib/urls.ts'
import { findProviders, findSharedAliasProblem } from '../protocols/providers/prefix-conflict.ts'
import { getDefinition } from '../protocols/providers/provider-names.ts'
import { getCompatibleFormat } from '../protocols/providers/target.ts'
import {
  createNamedModels,
  findCycle,
  formatCycle,
  getEntryName,
  isDirectModel,
} from '../request/routing/named-models.ts'
import { findVectorProblem } from '../request/routing/one-model.ts'
import { defaultHealthTerms } from '../request/routing/request-rules.ts'
import { findCloudProblem } from '../request/upstream/clouds/cloud-problem.ts'
import { comboFields } from '../types/records/combo-fields.ts'
import { connectionFields, providerDataFields, topLevelFieldNames } from '../types/records/connection-fields.ts'
import { groupFields } from '../types/records/group-fields.ts'
import { aliasFields, customModelFields } from '../types/records/model-fields.ts'
import type { RecordField, RecordFields, WriteOperation } from '../types/records/record-fields.ts'
import { settingsFields } from '../types/records/settings-fields.ts'
import type { Catalog, Combo, ProviderSpecificData } from '../types.ts'

/** A configuration's sections. */
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

interface CheckOptions {
  catalog: Catalog
  /** Whether the record may change a stored record, and can therefore omit required fields. */
  isChange?: boolean
}

/** Checks one record in a section. Throws a TypeError that begins with the mistake's location. */
export function checkRecord(section: ConfigSection, place: string, input: JsonObject, options: CheckOptions): void {
  const found = findRecordProblem(section, input)
  if (found) fail(place + found.path, found.problem)
  if (section === 'connections') checkConnection(place, input, options)
}

function findRecordProblem(section: ConfigSection, input: JsonObject): ShapeProblem | undefined {
  switch (section) {
    case 'connections':
      return findInputProblem(connectionFields, 'create', input, topLevel)
    case 'combos':
      return findInputProblem(unnamedCombo, 'create', input) ?? findComboProblem(input as CheckedCombo) // `findInputProblem` has validated the type
    case 'aliases':
      return findShapeProblem(aliasFields.model.shape, input.model)
    case 'models':
      return findInputProblem(customModelFields, 'create', input)
    case 'groups':
    case 'plans':
      return findInputProblem(groupFields, 'create', input)
    case 'guards':
      return undefined // guards are checked when they are created, because few gateways need the code that checks them
    case 'settings':
      if (Object.hasOwn(input, 'cloudEnabled')) return { path: '.cloudEnabled', problem: CLOUD_ACTION_ONLY_MESSAGE }
      return findInputProblem(settingsFields, 'update', input) ?? findSettingsProblem(input)
    default:
      return assertNever(section)
  }
}

type CheckedCombo = Pick<Combo, 'kind' | 'models'>

function findComboProblem({ kind = 'llm', models }: CheckedCombo): ShapeProblem | undefined {
  const index = kind === 'llm' ? -1 : models.findIndex((entry) => typeof entry === 'object' && entry.params)
  return index < 0
    ? undefined
    : { path: `.models[${index}].params`, problem: 'is only for chat combos ("kind": "llm"); omit it' }
}

function findSettingsProblem({ cloudUrl, health }: JsonObject): ShapeProblem | undefined {
  const { cooldownMs, maxCooldownMs } = { ...defaultHealthTerms, ...Object(health) }
  if (cooldownMs > maxCooldownMs)
    return { path: '.health.cooldownMs', problem: describeCooldowns(cooldownMs, maxCooldownMs) }
  const url = typeof cloudUrl === 'string' ? trimCloudUrl(cloudUrl) : ''
  const problem = url === '' ? undefined : findCloudUrlProblem(url)
  if (problem !== undefined) return { path: '.cloudUrl', problem }
  return url === '' ? undefined : findShapeProblem(providerDataFields.baseUrl.shape, url, '.cloudUrl')
}

/** Names that resolve to other names: combos, which take precedence, and aliases. */
export interface NameReferences {
  combos: ReadonlyArray<Pick<Combo, 'name' | 'kind' | 'models' | 'sameVectors'>>
  aliases: ReadonlyArray<{ alias: string; model: string }>
}

/** Checks that no name resolves to itself. Throws a TypeError that begins with the mistake's location. */
export function checkNames({ combos, aliases }: NameReferences): void {
  const next = new Map<string, readonly string[]>()
  for (const { alias, model } of aliases) if (alias !== model || !isDirectModel(model)) next.set(alias, [model])
  for (const { name, models } of combos) next.set(name, models.map(getEntryName))
  for (const { name, models } of combos) {
    const cycle = findCycle(name, next)
    if (cycle)
      fail(
        `combos.${name}.models[${models.findIndex((entry) => getEntryName(entry) === cycle[1])}]`,
        `must not lead back to the combo itself (${formatCycle(cycle)}). Remove it or use another model`,
      )
  }
  for (const { alias } of aliases) {
    const cycle = findCycle(alias, next)
    if (cycle) fail(`aliases.${alias}`, `must not lead back to the alias itself: ${formatCycle(cycle)}`)
  }
}

/** Checks that embedding combos have one model. Throws a TypeError that begins with the mistake's location. */
export function checkVectors({ combos, aliases }: NameReferences): void {
  const names = createNamedModels(combos, aliases)
  for (const combo of combos) {
    const problem = findVectorProblem(combo, names)
    if (problem) fail(`combos.${combo.name}.models`, `must all be the same embedding model: ${problem}`)
  }
}

/** A combo's name is its key in the section. */
const { name: _, ...unnamedCombo } = comboFields

/** The fields of `providerSpecificData` that can also be at the top level of a connection. */
export const topLevel = Object.fromEntries(topLevelFieldNames.map((name) => [name, providerDataFields[name]]))

/** Checks the fields of an operation's input, plus the additional fields in `extra`. */
function findInputProblem(
  fields: RecordFields,
  operation: WriteOperation,
  input: JsonObject,
  extra = {},
): ShapeProblem | undefined {
  const acceptedFields = Object.entries<RecordField>(fields).flatMap(([name, { inputs, shape }]) => {
    const fieldInput = inputs?.[operation]
    const way = typeof fieldInput === 'object' ? fieldInput.as : fieldInput
    if (way === undefined || way === 'refused' || name === 'discover') return []
    return [[name, { shape, isOptional: way !== 'required' }]]
  })
  return findFieldProblem({ ...Object.fromEntries(acceptedFields), ...extra }, input)
}

function checkConnection(place: string, input: JsonObject, { catalog, isChange }: CheckOptions): void {
  const providerName = String(input.provider)
  const nested: JsonObject = { ...Object(input.providerSpecificData) }
  const top = Object.keys(topLevel).filter((name) => input[name] !== undefined)
  const conflicting = top.find((name) => nested[name] !== undefined && !isSameValue(nested[name], input[name]))
  if (conflicting !== undefined)
    fail(`${place}.${conflicting}`, `and "providerSpecificData.${conflicting}" conflict; send only one of them`)
  const data = { ...nested, ...Object.fromEntries(top.map((name) => [name, input[name]])) } as ProviderSpecificData // `findInputProblem` has validated the fields
  const shared = findSharedAliasProblem(catalog, providerName)
  if (shared) fail(`${place}.provider`, shared)
  const [provider = providerName] = findProviders(catalog, providerName)
  if (!getDefinition(catalog, provider) && !getCompatibleFormat(provider) && data.baseUrl === undefined) {
    const suggestion = findNearestName(provider, Object.keys(catalog))
    const hint = suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`
    throw new TypeError(`${place}: Unknown provider "${provider}".${hint} For any other provider, set "baseUrl".`)
  }
  if (isChange) return
  const apiKey = typeof input.apiKey === 'string' ? input.apiKey.trim() : undefined
  const problem = findCloudProblem(catalog, provider, { data, apiKey })
  if (problem) throw new TypeError(formatProblem(place, problem))
}

const isSameValue = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** Joins a place and a problem, which may begin with a quoted path, as in the management API. */
export function formatProblem(place: string, problem: string): string {
  const [, path, rest] = /^"([^"]+)" (.*)$/s.exec(problem) ?? []
  return path === undefined ? `${place}: ${endSentence(problem)}` : `${place}.${path} ${endSentence(rest ?? '')}`
}

/** Throws a TypeError about a place in the configuration. */
export function fail(place: string, problem: string): never {
  throw new TypeError(`${place} ${endSentence(problem)}`)
}
