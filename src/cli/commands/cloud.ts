import type { CloudConflict } from '../../management/cloud.ts'
import { problem } from '../problem.ts'
import { type CliCommand, printedList } from './command.ts'
import { flag, secret } from './fields.ts'
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
    : `Changed on both sides, and the side whose change was kept:\n${table(conflictColumns, conflicts)}`

const sentenceOf = (error: unknown) =>
  error instanceof Error ? error.message.replace(/[^.]$/, '$&.') : 'It has failed.'

export const cloud = {
  help: 'The mirror of the gateway at a cloud proxy',
  actions: {
    state: {
      help: 'Whether cloud mode is on, and how the mirror is',
      async run({ api }) {
        const body = await api.cloud.get()
        const { conflicts, ...state } = body
        return { body, text: details(state) + conflictText(conflicts) }
      },
    },
    enable: {
      help: 'Turns cloud mode on and mirrors all data; an address is saved as cloudUrl first, and the one before put back on a failure',
      words: ['[address]'],
      fields: {
        enrolment: {
          ...secret('enrolment', '-', "The proxy's enrolment credential, a secret, by - from standard input"),
          variable: 'SIGNALBOX_ENROLMENT',
        },
      },
      async run({ api, setCloudUrl, words: [address], input }) {
        const before = await api.settings.get()
        const { cloudUrl } = address === undefined ? before : await api.settings.update({ cloudUrl: address })
        const body = await api.cloud.enable(input).catch(async (error: unknown) => {
          if (cloudUrl === before.cloudUrl) throw error
          await setCloudUrl(before.cloudUrl).catch((cause: unknown) => {
            throw problem(`${sentenceOf(error)} The address ${cloudUrl} stays set, as it could not be changed back.`, {
              cause,
            })
          })
          throw error
        })
        const { verified, verifyError, createdKey, conflicts } = body
        const lines = [
          `Cloud mode is on${verified ? ', and the cloud has answered with one of the keys' : ''}.\n`,
          createdKey ? `There was no key, and one was made:\n${details(createdKey)}` : '',
          conflictText(conflicts),
          `Clients now use ${cloudUrl}/v1.\n`,
        ]
        const unverified = `The mirror could not be verified: ${verifyError ?? 'no reason was given'}`
        const warnings = [...(verified ? [] : [unverified]), ...(body.warnings ?? [])]
        return { body, text: lines.join(''), warnings }
      },
    },
    sync: {
      help: 'Exchanges what has changed on either side',
      async run({ api }) {
        const body = await api.cloud.sync()
        return { body, text: `The cloud is in sync.\n${conflictText(body.conflicts)}` }
      },
    },
    disable: {
      help: 'Syncs, removes the mirror and its sessions from the cloud, and turns cloud mode off',
      fields: { force: flag('force', true, 'Also when the cloud does not answer; the mirror may then stay there') },
      async run({ api, input }) {
        const body = await api.cloud.disable(input)
        const { syncError, conflicts } = body
        const warnings = syncError === undefined ? [] : [`The sync before has failed: ${syncError}`]
        return { body, text: `Cloud mode is off.\n${conflictText(conflicts)}`, warnings }
      },
    },
    check: {
      help: 'Asks whether the proxy is reachable',
      async run({ api }) {
        const body = await api.cloud.check()
        return { body, text: `${body.message}\n` }
      },
    },
    sessions: {
      help: 'The sessions of this gateway at the proxy',
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
      help: 'Ends a session; the gateway opens another one when it needs one',
      words: ['<session>'],
      run: async ({ api, words: [session = ''] }) => ({
        body: await api.cloud.sessions.revoke(session),
        text: `The session "${session}" is ended.\n`,
      }),
    },
  },
} satisfies CliCommand
