import type { NamedOperation } from '../../admin/operation-table.ts'
import { listServedOperations } from '../../management/operations.ts'
import { cloudActions } from './cloud-command.ts'
import type { CliCommand } from './command.ts'
import { importCommand } from './import-command.ts'
import { init } from './init.ts'
import { live } from './live-command.ts'
import { aliasActions, modelActions } from './model-actions.ts'
import { type CommandDetails, createCommands } from './operation-commands.ts'
import {
  comboActions,
  connectionActions,
  groupActions,
  keyActions,
  limitActions,
  providerActions,
} from './record-actions.ts'
import { usageActions } from './usage-actions.ts'
import { explainAction, healthActions, openapiAction, overviewAction } from './view-actions.ts'

/** The commands in help order, with details that can't be derived from their operations. */
const details: Readonly<Record<string, CommandDetails>> = {
  init: {},
  keys: { help: 'Manage API keys', notes: '<key> is an ID or a unique name.', actions: keyActions },
  groups: {
    help: 'Manage groups of keys that share limits',
    notes: '<group> is an ID or a unique name.',
    actions: groupActions,
  },
  accounts: { help: "Manage the accounts of your app's users", notes: '<id> is the ID that your app uses, or a ref.' },
  connections: {
    help: 'Manage your accounts with providers',
    notes: '<connection> is an ID or a unique name.',
    actions: connectionActions,
  },
  combos: {
    help: 'Manage combos (virtual models with a routing strategy)',
    notes: '<combo> is an ID or a unique name.',
    actions: comboActions,
  },
  aliases: { help: 'Manage aliases for model names', actions: aliasActions },
  models: {
    help: 'List the models clients can use, and manage custom models',
    notes: 'A <model> is <provider>/<id>. Clients can also use aliases (see "signalbox aliases").',
    actions: modelActions,
  },
  providers: {
    help: 'List built-in providers, and spread requests over their connections',
    notes:
      'To connect a provider: signalbox connections create <provider> --api-key -\nFor any other server, use --base-url and a provider name that starts with openai-compatible or\nanthropic-compatible.',
    actions: providerActions,
  },
  usage: {
    help: 'Show requests, tokens, and costs',
    notes:
      'Times are ISO 8601 dates or times in UTC, "today", "yesterday", or ages (30m, 24h, 7d, 2w).\nExamples:\n  signalbox usage --from 7d\n  signalbox usage --from yesterday --to today --by key,model',
    actions: usageActions,
  },
  live: {},
  explain: {
    help: 'Show where a request would be routed, and why',
    notes: '<model> is a model from "signalbox models", an alias, or a combo.',
    actions: { '': explainAction },
  },
  info: { help: 'Show the version, runtime, storage, and record counts' },
  overview: { help: 'Show usage, failures, and limits at a glance', actions: { '': overviewAction } },
  health: {
    help: 'Show failing targets, and repair damaged records',
    notes: '<connection> is an ID or a unique name. <record> is the storage key of a damaged record.',
    actions: healthActions,
  },
  settings: { help: "Show and change the gateway's settings", actions: limitActions },
  cloud: { help: 'Manage cloud sync', actions: cloudActions },
  import: {},
  openapi: { help: 'Print the OpenAPI document', actions: { '': openapiAction } },
}

/** Lists all commands by name: those derived from operations, and those written by hand. */
export function listCommands(
  operations: readonly NamedOperation[] = listServedOperations(),
): Readonly<Record<string, CliCommand>> {
  return { ...createCommands(operations, details), init, live, import: importCommand }
}
