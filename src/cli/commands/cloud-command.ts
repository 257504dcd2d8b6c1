import type { DisabledCloud } from '../../client/client.ts'
import type {
  CloudConflict,
  CloudState,
  EnabledCloud,
  SyncedCloud,
} from '../../features/cloud-sync/gateway/cloud-operations.ts'
import { createProblem } from '../problem.ts'
import { createFlagOption, createSecretOption } from './input-options.ts'
import type { ActionDetails } from './operation-action.ts'
import { formatDetails, formatTable } from './text-table.ts'

/** Lists the records that changed on both sides. Returns an empty string if there are none. */
const formatConflicts = (conflicts: readonly CloudConflict[] = []): string =>
  conflicts.length === 0
    ? ''
    : `Changed on both sides (KEPT is the side whose change won):\n${formatTable(['collection', 'id', 'kept', 'at'], conflicts)}`

const toSentence = (error: unknown) =>
  error instanceof Error ? error.message.replace(/[^.]$/, '$&.') : 'Cloud sync could not be enabled.'

function formatEnabled(body: EnabledCloud, cloudUrl: string) {
  const { verified, verifyError, createdKey, conflicts } = body
  const lines = [
    `Cloud sync is on${verified ? ', and a test request to the cloud succeeded' : ''}.\n`,
    createdKey ? `You had no API key, so one was created:\n${formatDetails(createdKey)}` : '',
    formatConflicts(conflicts),
    `Clients can now use ${cloudUrl}/v1.\n`,
  ]
  const unverified = `Cloud sync could not be verified: ${verifyError ?? 'no reason given'}`
  return { body, text: lines.join(''), warnings: [...(verified ? [] : [unverified]), ...(body.warnings ?? [])] }
}

export const cloudActions = {
  state: {
    show({ conflicts, ...state }: CloudState) {
      return { body: { ...state, conflicts }, text: formatDetails(state) + formatConflicts(conflicts) }
    },
  },
  enable: {
    help: 'Turn on cloud sync and upload all data; <url> is saved in the settings',
    usage: ['[url]'],
    hides: ['enrollmentToken'],
    fields: {
      'enrollment-token': {
        ...createSecretOption('enrollmentToken', "The proxy's enrollment token"),
        variable: 'SIGNALBOX_ENROLLMENT_TOKEN',
        formerVariable: 'SIGNALBOX_ENROLMENT',
      },
    },
    async run({ api, send, words: [url], input }) {
      const previous = await api.settings.get()
      const { cloudUrl } = url === undefined ? previous : await api.settings.update({ cloudUrl: url })
      const enabled = await api.cloud.enable(input).catch(async (error: unknown) => {
        if (cloudUrl === previous.cloudUrl) throw error
        const restore = { method: 'PATCH', path: '/api/settings', body: { cloudUrl: previous.cloudUrl } } // also restores an empty URL, which clients never save
        await send(restore).catch((cause: unknown) => {
          const message = `${toSentence(error)} The cloud URL could not be changed back, so it is still ${cloudUrl}.`
          throw createProblem(message, { cause })
        })
        throw error
      })
      return formatEnabled(enabled, cloudUrl)
    },
  },
  sync: { show: (body: SyncedCloud) => ({ body, text: `Synced with the cloud.\n${formatConflicts(body.conflicts)}` }) },
  disable: {
    help: 'Sync, delete the data and sessions in the cloud, and turn off cloud sync',
    hides: ['force'],
    fields: {
      force: createFlagOption(
        'force',
        true,
        "Turn it off even if the cloud doesn't respond; the data there may remain",
      ),
    },
    show(body: DisabledCloud) {
      const { syncError, conflicts } = body
      const warnings = syncError === undefined ? [] : [`The final sync failed: ${syncError}`]
      return { body, text: `Cloud sync is off.\n${formatConflicts(conflicts)}`, warnings }
    },
  },
  check: { show: (body: { message: string }) => ({ body, text: `${body.message}\n` }) },
  'sessions revoke': { show: (body: object, { words: [id] }) => ({ body, text: `Ended session "${id}".\n` }) },
} satisfies Record<string, ActionDetails>
