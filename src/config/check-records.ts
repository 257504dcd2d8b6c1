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
export function checkRecord(section: ConfigSection, path: string, input: JsonObject, options: CheckOptions): void {
  const recordProblem = findRecordProblem(section, input)
  if (recordProblem) throwProblem(path + recordProblem.path, recordProblem.problem)
  if (section === 'connections') checkConnection(path, input, options)
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
      throwProblem(
        `combos.${name}.models[${models.findIndex((entry) => getEntryName(entry) === cycle[1])}]`,
        `must not lead back to the combo itself (${formatCycle(cycle)}). Remove it or use another model`,
      )
  }
  for (const { alias } of aliases) {
    const cycle = findCycle(alias, next)
    if (cycle) throwProblem(`aliases.${alias}`, `must not lead back to the alias itself: ${formatCycle(cycle)}`)
  }
}

/** Checks that embedding combos have one model. Throws a TypeError that begins with the mistake's location. */
export function checkVectors({ combos, aliases }: NameReferences): void {
  const names = createNamedModels(combos, aliases)
  for (const combo of combos) {
    const problem = findVectorProblem(combo, names)
    if (problem) throwProblem(`combos.${combo.name}.models`, `must all be the same embedding model: ${problem}`)
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
    const inputRule = typeof fieldInput === 'object' ? fieldInput.as : fieldInput
    if (inputRule === undefined || inputRule === 'refused' || name === 'discover') return []
    return [[name, { shape, isOptional: inputRule !== 'required' }]]
  })
  return findFieldProblem({ ...Object.fromEntries(acceptedFields), ...extra }, input)
}

function checkConnection(path: string, input: JsonObject, { catalog, isChange }: CheckOptions): void {
  const providerName = String(input.provider)
  const providerData: JsonObject = { ...Object(input.providerSpecificData) }
  const topLevelNames = Object.keys(topLevel).filter((name) => input[name] !== undefined)
  const conflictingName = topLevelNames.find(
    (name) => providerData[name] !== undefined && !isSameValue(providerData[name], input[name]),
  )
  if (conflictingName !== undefined)
    throwProblem(
      `${path}.${conflictingName}`,
      `and "providerSpecificData.${conflictingName}" conflict; send only one of them`,
    )
  const data = {
    ...providerData,
    ...Object.fromEntries(topLevelNames.map((name) => [name, input[name]])),
  } as ProviderSpecificData // `findInputProblem` has validated the fields
  const shared = findSharedAliasProblem(catalog, providerName)
  if (shared) throwProblem(`${path}.provider`, shared)
  const [provider = providerName] = findProviders(catalog, providerName)
  if (!getDefinition(catalog, provider) && !getCompatibleFormat(provider) && data.baseUrl === undefined) {
    const suggestion = findNearestName(provider, Object.keys(catalog))
    const hint = suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`
    throw new TypeError(`${path}: Unknown provider "${provider}".${hint} For any other provider, set "baseUrl".`)
  }
  if (isChange) return
  const apiKey = typeof input.apiKey === 'string' ? input.apiKey.trim() : undefined
  const problem = findCloudProblem(catalog, provider, { data, apiKey })
  if (problem) throw new TypeError(formatProblem(path, problem))
}

const isSameValue = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** Joins a record's path and a problem, which may begin with a quoted field path, as in the management API. */
export function formatProblem(path: string, problem: string): string {
  const [, field, description = ''] = /^"([^"]+)" (.*)$/s.exec(problem) ?? []
  return field === undefined ? `${path}: ${endSentence(problem)}` : `${path}.${field} ${endSentence(description)}`
}

/** Throws a TypeError about a path in the configuration. */
export function throwProblem(path: string, problem: string): never {
  throw new TypeError(`${path} ${endSentence(problem)}`)
}
