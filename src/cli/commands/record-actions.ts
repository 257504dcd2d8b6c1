import type { ConnectionView } from '../../admin/connections.ts'
import type { MaskedKey } from '../../admin/key-listing.ts'
import type { KeyView } from '../../admin/keys.ts'
import type { Provider } from '../../admin/providers.ts'
import type { WithWarnings } from '../../admin/warnings.ts'
import type { Client } from '../../client/client.ts'
import type { Combo, ComboModel, LimitState } from '../../types.ts'
import type { ActionDetails } from './operation-action.ts'
import { type FieldColumn, formatDetails } from './text-table.ts'

interface StatefulRecord {
  isActive?: boolean
  draining?: boolean
  error?: string
}

const formatState = ({ isActive, draining }: StatefulRecord) =>
  isActive === false ? 'paused' : draining ? 'draining' : 'active'

const state = ['STATE', formatState] as const
const problem = ['PROBLEM', ({ error }: StatefulRecord) => error] as const

export const limitColumns = [
  'scope',
  'id',
  ['LIMIT', ({ unit, window }) => (window === null ? unit : `${unit}.${window}`)],
  ['MAX', ({ limit }) => String(limit)],
  'used',
  'reserved',
  'unsettled',
  ['LEFT', ({ remaining }) => String(remaining)],
  'resetsAt',
] as const satisfies FieldColumn<LimitState>[]

export const limitActions = {
  limits: { columns: limitColumns },
  'limits reset': { done: 'Usage counters reset.' },
  'limits settle': { done: 'Reservations of lost instances have been settled.' },
} satisfies Record<string, ActionDetails>

/** A key with or without its value. */
type ListedKey = Partial<Pick<KeyView, 'key'>> & Omit<KeyView, 'key'> & Partial<Pick<MaskedKey, 'hint'>>

/** Formats the end of a key, which people recognize it by. */
const formatEnd = (key: string) => `…${key.slice(-4)}`

export const keyActions = {
  list: {
    columns: [
      'id',
      'name',
      state,
      ['KEY', ({ key, hint }) => hint ?? (key && formatEnd(key))],
      'createdAt',
      'group',
      problem,
    ] satisfies FieldColumn<ListedKey>[],
  },
  create: { words: ['name'] },
  update: {
    show({ key, ...body }: { key: KeyView } & WithWarnings) {
      const text = formatDetails({ ...key, key: formatEnd(key.key) })
      return { body: { key, ...body }, text, ...body }
    },
  },
  ...limitActions,
} satisfies Record<string, ActionDetails>

export const groupActions = {
  list: { columns: ['id', 'name', state, 'createdAt', problem] },
  create: { words: ['name'] },
  ...limitActions,
} satisfies Record<string, ActionDetails>

/** The fields that determine which server is queried, and how. */
const SERVER_FIELDS = ['provider', 'baseUrl', 'apiKey', 'format', 'providerSpecificData']

/**
 * Queries a new or changed connection's server for its models if the gateway warns that listings won't ("discover"). An explicit `discover` overrides
 * this.
 */
async function discoverModels(api: Client<unknown>, input: object, connection: ConnectionView & WithWarnings) {
  const isNeverQueried = connection.warnings?.some((warning) => warning.includes('"discover"'))
  const isNew = !('discover' in input) && SERVER_FIELDS.some((field) => field in input)
  return isNeverQueried && isNew ? api.connections.discover(connection.id) : connection
}

const discoveringAction = {
  async run({ api, input }, { perform, format }) {
    const connection = (await perform()) as ConnectionView & WithWarnings // both operations return a connection
    return format(await discoverModels(api, input, connection))
  },
} satisfies ActionDetails

export const connectionActions = {
  list: {
    columns: [
      'id',
      'provider',
      'name',
      state,
      'priority',
      ['KEY', ({ apiKey }) => apiKey],
      ['PREFIX', ({ providerSpecificData }) => providerSpecificData?.prefix],
      ['BASE URL', ({ providerSpecificData }) => providerSpecificData?.baseUrl],
      ['FAILING', ({ health }) => health && `${health.length} (see signalbox connections get)`],
      problem,
    ] satisfies FieldColumn<ConnectionView>[],
  },
  create: { ...discoveringAction, words: ['provider'] },
  update: { ...discoveringAction, hides: ['provider'] },
} satisfies Record<string, ActionDetails>

function formatEntry(entry: ComboModel): string {
  if (typeof entry === 'string') return entry
  const { model, weight, when } = entry
  const rules = [...(weight === undefined ? [] : [`weight ${weight}`]), ...(when ? ['conditional'] : [])]
  return rules.length > 0 ? `${model} (${rules.join(', ')})` : model
}

export const comboActions = {
  list: {
    columns: [
      'id',
      'name',
      ['KIND', ({ kind = 'llm' }) => kind],
      'strategy',
      ['MODELS', ({ models }) => models.map(formatEntry).join(', ')],
    ] satisfies FieldColumn<Combo>[],
  },
  create: { words: ['name', 'models'] },
} satisfies Record<string, ActionDetails>

/** Shows a provider with only the IDs of its models; `--json` prints the rest. */
const show = (body: Provider) => ({
  body,
  text: formatDetails({ ...body, models: body.models?.map(({ id }) => id).join(', ') }),
})

export const providerActions = {
  list: {
    columns: [
      'id',
      'name',
      ['PREFIX', ({ id, alias }) => (alias === id ? undefined : alias)],
      ['MODELS', ({ models = [] }) => String(models.length)],
      'format',
      'strategy',
    ] satisfies FieldColumn<Provider>[],
  },
  get: { show },
  update: { show },
} satisfies Record<string, ActionDetails>
