import type { operations } from '../../management/operations.ts'
import { cloud } from './cloud-command.ts'
import type { CliCommand } from './command.ts'
import { imports } from './import-command.ts'
import { init } from './init.ts'
import { live } from './live-command.ts'
import { aliases, models } from './model-commands.ts'
import { combos, connections, groups, keys, settings } from './record-commands.ts'
import { usage } from './usage-command.ts'
import { explain, health, info, providers } from './views.ts'

/** The commands that manage a gateway, by their names. */
export const commands = {
  init,
  keys,
  groups,
  connections,
  combos,
  aliases,
  models,
  providers,
  usage,
  live,
  explain,
  info,
  health,
  settings,
  cloud,
  import: imports,
} as const satisfies Readonly<Record<string, CliCommand>>

/** A command and its action, such as `keys list`; or a command that does one thing, such as `explain`. */
type ActionWords = {
  [Name in keyof typeof commands]: WordsOf<Name, keyof (typeof commands)[Name]['actions']>
}[keyof typeof commands]

type WordsOf<Name extends string, Action> = Action extends '' ? Name : `${Name} ${Action & string}`

/** An operation for which the command has no action. */
export const NO_ACTION = undefined

type ActionsOf<Rows> = {
  readonly [Name in keyof Rows]: Rows[Name] extends { path: string }
    ? ActionWords | typeof NO_ACTION
    : ActionsOf<Rows[Name]>
}

/** By which action of the command each operation is called; one that is missing does not compile. */
export const operationActions: ActionsOf<typeof operations> = {
  keys: {
    list: 'keys list',
    create: 'keys create',
    get: 'keys get',
    update: 'keys update',
    delete: 'keys delete',
    put: NO_ACTION,
    rotate: 'keys rotate',
    limits: { get: 'keys limits', reset: 'keys limits reset', settle: 'keys limits settle' },
  },
  groups: {
    list: 'groups list',
    create: 'groups create',
    get: 'groups get',
    update: 'groups update',
    delete: 'groups delete',
    put: NO_ACTION,
    limits: { get: 'groups limits', reset: 'groups limits reset', settle: 'groups limits settle' },
  },
  settings: {
    get: 'settings list',
    update: 'settings update',
    limits: { get: 'settings limits', reset: 'settings limits reset', settle: 'settings limits settle' },
  },
  combos: {
    list: 'combos list',
    create: 'combos create',
    get: 'combos get',
    update: 'combos update',
    delete: 'combos delete',
    put: NO_ACTION,
  },
  connections: {
    list: 'connections list',
    create: 'connections create',
    get: 'connections get',
    update: 'connections update',
    delete: 'connections delete',
    put: NO_ACTION,
    discover: 'connections discover',
    test: 'connections test',
  },
  models: { published: 'models list' },
  customModels: { list: 'models custom', create: 'models create', delete: 'models delete', put: NO_ACTION },
  aliases: { list: 'aliases list', set: 'aliases update', delete: 'aliases delete' },
  providers: { list: 'providers list', get: 'providers get', update: 'providers update' },
  cloud: {
    get: 'cloud state',
    enable: 'cloud enable',
    sync: 'cloud sync',
    disable: 'cloud disable',
    check: 'cloud check',
    sessions: { list: 'cloud sessions', revoke: 'cloud sessions revoke' },
  },
  usage: { summary: 'usage summary', requests: 'usage requests', request: 'usage request', keys: NO_ACTION },
  explain: 'explain',
  overview: NO_ACTION,
  info: 'info',
  openapi: NO_ACTION,
  damagedRecords: { get: 'health record', put: 'health repair', delete: 'health remove' },
  health: { list: 'health list', reset: 'health reset' },
}
