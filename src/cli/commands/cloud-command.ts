import type { CloudConflict } from '../../features/cloud-sync/gateway/cloud-operations.ts'
import { problem } from '../problem.ts'
import { type CliCommand, printedList } from './command.ts'
import { flag, secret } from './field-options.ts'
import { type Column, details, table } from './text-table.ts'

const conflictColumns: readonly Column<CloudConflict>[] = [
  ['COLLECTION', ({ collection }) => collection],
  ['ID', ({ id }) => id],
  ['KEPT', ({ kept }) => kept],
  ['AT', ({ at }) => at],
]

/** Records that were changed on both sides, as lines; the empty text when there are none. */
const conflictText = (conflicts: readonly CloudConflict[] = []): string =>
  conflicts.length === 0
    ? ''
    : `Changed on both sides (KEPT is the side whose change won):\n${table(conflictColumns, conflicts)}`

const sentenceOf = (error: unknown) =>
  error instanceof Error ? error.message.replace(/[^.]$/, '$&.') : 'Cloud sync could not be enabled.'

export const cloud = {
  help: 'Manage cloud sync',
  actions: {
    state: {
      help: 'Show whether cloud sync is on, and its state',
      async run({ api }) {
        const body = await api.cloud.get()
        const { conflicts, ...state } = body
        return { body, text: details(state) + conflictText(conflicts) }
      },
    },
    enable: {
      help: 'Turn on cloud sync and upload all data; <url> is saved in the settings',
      words: ['[url]'],
      fields: {
        'enrollment-token': {
          ...secret('enrollmentToken', '-', "The proxy's enrollment token; use - to read it from stdin"),
          variable: 'SIGNALBOX_ENROLLMENT_TOKEN',
          formerVariable: 'SIGNALBOX_ENROLMENT',
        },
      },
      async run({ api, setCloudUrl, words: [url], input }) {
        const before = await api.settings.get()
        const { cloudUrl } = url === undefined ? before : await api.settings.update({ cloudUrl: url })
        const body = await api.cloud.enable(input).catch(async (error: unknown) => {
          if (cloudUrl === before.cloudUrl) throw error
          await setCloudUrl(before.cloudUrl).catch((cause: unknown) => {
            throw problem(`${sentenceOf(error)} The cloud URL could not be changed back, so it is still ${cloudUrl}.`, {
              cause,
            })
          })
          throw error
        })
        const { verified, verifyError, createdKey, conflicts } = body
        const lines = [
          `Cloud sync is on${verified ? ', and a test request to the cloud succeeded' : ''}.\n`,
          createdKey ? `You had no API key, so one was created:\n${details(createdKey)}` : '',
          conflictText(conflicts),
          `Clients can now use ${cloudUrl}/v1.\n`,
        ]
        const unverified = `Cloud sync could not be verified: ${verifyError ?? 'no reason given'}`
        const warnings = [...(verified ? [] : [unverified]), ...(body.warnings ?? [])]
        return { body, text: lines.join(''), warnings }
      },
    },
    sync: {
      help: 'Sync changes in both directions now',
      async run({ api }) {
        const body = await api.cloud.sync()
        return { body, text: `Synced with the cloud.\n${conflictText(body.conflicts)}` }
      },
    },
    disable: {
      help: 'Sync, delete the data and sessions in the cloud, and turn off cloud sync',
      fields: {
        force: flag('force', true, "Turn it off even if the cloud doesn't respond; the data there may remain"),
      },
      async run({ api, input }) {
        const body = await api.cloud.disable(input)
        const { syncError, conflicts } = body
        const warnings = syncError === undefined ? [] : [`The final sync failed: ${syncError}`]
        return { body, text: `Cloud sync is off.\n${conflictText(conflicts)}`, warnings }
      },
    },
    check: {
      help: 'Check whether the cloud proxy is reachable',
      async run({ api }) {
        const body = await api.cloud.check()
        return { body, text: `${body.message}\n` }
      },
    },
    sessions: {
      help: "List this gateway's sessions at the cloud proxy",
      async run({ api }) {
        const body = await api.cloud.sessions.list()
        return printedList(body, {
          all: body.sessions,
          columns: [
            ['ID', ({ id }) => id],
            ['CREATED', ({ createdAt }) => createdAt],
            ['LAST USED', ({ lastUsedAt }) => lastUsedAt],
          ],
          none: 'There are no sessions.',
        })
      },
    },
    'sessions revoke': {
      help: 'End a session; the gateway opens a new one when needed',
      words: ['<session>'],
      run: async ({ api, words: [session = ''] }) => ({
        body: await api.cloud.sessions.revoke(session),
        text: `Ended session "${session}".\n`,
      }),
    },
  },
} satisfies CliCommand
