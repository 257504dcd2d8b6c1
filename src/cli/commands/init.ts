import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { appendFile, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createProblem, getErrorCode } from '../problem.ts'
import type { CliCommand } from './command.ts'
import { createFlagOption } from './input-options.ts'

const CONFIG_FILE = 'signalbox.yaml'
const ENV_FILE = '.env'
const GITIGNORE_FILE = '.gitignore'

/** A variable in the `.env` file. */
interface EnvSecret {
  name: string
  /** The comment above the variable. */
  comment: string
  prefix?: string
  /** The variable's names in earlier versions. */
  formerNames?: readonly string[]
}

const GATEWAY_SECRET: EnvSecret = {
  name: 'SIGNALBOX_SECRET',
  comment: 'Encrypts the stored keys and credentials. Keep a copy: without it, the data is unreadable.',
  formerNames: ['SECRET'],
}

const GATEWAY_SECRETS: readonly EnvSecret[] = [
  GATEWAY_SECRET,
  { name: 'SIGNALBOX_ADMIN_TOKEN', comment: 'For the management API and the dashboard.', formerNames: ['ADMIN_TOKEN'] },
  { name: 'SIGNALBOX_METRICS_TOKEN', comment: 'Lets Prometheus read /metrics.', formerNames: ['SCRAPE_TOKEN'] },
  { name: 'APP_KEY', comment: 'The API key of your first client.', prefix: 'sbx_' },
]

const CLOUD_PROXY_SECRETS: readonly EnvSecret[] = [
  GATEWAY_SECRET,
  {
    name: 'SIGNALBOX_ENROLLMENT_TOKEN',
    comment: 'Lets a gateway enroll at this cloud proxy.',
    formerNames: ['ENROLMENT', 'SIGNALBOX_ENROLMENT'],
  },
]

const CONFIG_TEXT = `# yaml-language-server: $schema=./node_modules/signalbox/dist/config.schema.json
# Signalbox configuration, applied on every start with --config ${CONFIG_FILE}.
# \${NAME} reads an environment variable, for example from ${ENV_FILE}.

settings:
  requireApiKey: true # clients must send an API key

# API keys for your apps. Clients send them as bearer tokens.
keys:
  app: { key: "\${APP_KEY}" }
  # web:
  #   key: "\${WEB_KEY}" # sbx_ and at least 32 characters
  #   models: [openai/*, fast]
  #   limits: { usd: { month: 20 }, requests: { minute: 60 } }

# Your accounts with providers. Signalbox also connects every provider whose API key is in the
# environment, such as OPENAI_API_KEY, ANTHROPIC_API_KEY, or GEMINI_API_KEY.
# connections:
#   openai: { apiKey: "\${OPENAI_API_KEY}" }
#   ollama: { discover: true } # a local Ollama server, with its installed models

# Combos are virtual models: clients request "fast", and Signalbox picks a model from the list.
# combos:
#   fast: [openai/gpt-5-mini, gemini/gemini-2.5-flash] # falls back to the next model on failure

# Other names for models.
# aliases:
#   gpt-4o: fast
`

/** The result for one file. */
interface FileOutcome {
  file: string
  status: 'created' | 'updated' | 'kept'
  /** The names that were added. */
  added?: readonly string[]
  /** The names that the file already had. */
  kept?: readonly string[]
}

export const init = {
  help: `Create ${CONFIG_FILE} and a ${ENV_FILE} file with new secrets`,
  isLocal: true,
  notes: `Existing files and values are never overwritten, so you can run it again. To start over with the
config file, delete it first.`,
  actions: {
    '': {
      help: `Create a config file and ${ENV_FILE}, and list ${ENV_FILE} in ${GITIGNORE_FILE} if this is a Git repository`,
      fields: {
        'env-only': createFlagOption('envOnly', true, `Create only ${ENV_FILE}, for a gateway embedded in your app`),
        'cloud-proxy': createFlagOption(
          'cloudProxy',
          true,
          `Create only ${ENV_FILE}, with the secrets of a cloud proxy`,
        ),
      },
      async run({ input }) {
        const files: FileOutcome[] = []
        const isGateway = !input.cloudProxy
        const hasConfig = isGateway && !input.envOnly
        const warnings: string[] = []
        const env = await addSecrets(isGateway ? GATEWAY_SECRETS : CLOUD_PROXY_SECRETS, warnings)
        if (hasConfig) files.push(await createConfig())
        files.push(env)
        const ignored = await ignoreEnv()
        if (ignored) files.push(ignored)
        const text = `${files.map(formatOutcome).join('')}${hasConfig ? NEXT_STEPS : ''}`
        return { body: { files, warnings }, text, warnings }
      },
    },
  },
} satisfies CliCommand

const NEXT_STEPS = `
Next steps:
  1. Add your provider keys to ${ENV_FILE}, for example: OPENAI_API_KEY=sk-...
  2. Start the gateway:

     set -a; . ./${ENV_FILE}; set +a
     npx signalbox --config ${CONFIG_FILE}

  3. Send a request from another terminal:

     . ./${ENV_FILE}
     curl http://127.0.0.1:4000/v1/chat/completions -H "Authorization: Bearer $APP_KEY" -H 'Content-Type: application/json' \\
       -d '{"model":"openai/gpt-5-mini","messages":[{"role":"user","content":"Hello"}]}'
`

function formatOutcome({ file, status, added = [], kept = [] }: FileOutcome): string {
  const names = [
    ...(added.length > 0 ? [`added ${added.join(', ')}`] : []),
    ...(kept.length > 0 ? [`kept ${kept.join(', ')}`] : []),
  ]
  const verb = { created: 'Created', updated: 'Updated', kept: 'Kept' }[status]
  return `${verb} ${file}${names.length > 0 ? ` (${names.join('; ')})` : status === 'kept' ? ' (it already exists)' : ''}\n`
}

async function createConfig(): Promise<FileOutcome> {
  const isNew = await writeFile(CONFIG_FILE, CONFIG_TEXT, { flag: 'wx' }).then(
    () => true,
    rethrowUnlessExists(CONFIG_FILE),
  )
  return { file: CONFIG_FILE, status: isNew ? 'created' : 'kept' }
}

/** Adds the secrets that are missing from the `.env` file. A new file gets a mode that keeps other users out. */
async function addSecrets(secrets: readonly EnvSecret[], warnings: string[]): Promise<FileOutcome> {
  const current = await readIfExists(ENV_FILE)
  const has = (name: string) => new RegExp(`^[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=`, 'm').test(current ?? '')
  for (const { name, formerNames: oldNames = [] } of secrets) {
    const old = oldNames.find(has)
    if (old !== undefined && !has(name))
      throw createProblem(
        `${ENV_FILE} sets ${old}, which is now called ${name}. Rename it, keep its value, and run the command again.`,
      )
  }
  const missing = secrets.filter(({ name }) => !has(name))
  const lines = missing.map(
    ({ name, comment: about, prefix = '' }) => `# ${about}\n${name}=${prefix}${randomBytes(32).toString('hex')}\n`,
  )
  const added = missing.map(({ name }) => name)
  if (current === undefined) {
    const isNew = await writeFile(ENV_FILE, lines.join('\n'), { flag: 'wx', mode: 0o600 }).then(
      () => true,
      rethrowUnlessExists(ENV_FILE),
    )
    if (!isNew) throw createProblem(`${ENV_FILE} was created by another process. Run the command again.`)
    return { file: ENV_FILE, status: 'created', added }
  }
  const keptNames = secrets.flatMap(({ name }) => (added.includes(name) ? [] : [name]))
  const text = `${current === '' || current.endsWith('\n') ? '' : '\n'}${current === '' ? '' : '\n'}${lines.join('\n')}`
  if (added.length > 0) await appendFile(ENV_FILE, text).catch(createWriteProblem(ENV_FILE))
  for (const name of keptNames)
    if (new RegExp(`^[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=[ \\t]*(?:''|"")?[ \\t\\r]*$`, 'm').test(current))
      warnings.push(`${name} is empty in ${ENV_FILE}. Set it, or delete the line and run the command again.`)
  const { mode } = await stat(ENV_FILE)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    warnings.push(`Other users can read ${ENV_FILE}. To prevent that, run: chmod 600 ${ENV_FILE}`)
  return { file: ENV_FILE, status: added.length > 0 ? 'updated' : 'kept', added, kept: keptNames }
}

/** Adds the `.env` file to `.gitignore`, unless this isn't a Git repository or one of its `.gitignore` files already covers it. */
async function ignoreEnv(): Promise<FileOutcome | undefined> {
  const folders = [resolve('.')]
  while (!existsSync(join(folders[0] ?? '', '.git'))) {
    const parent = dirname(folders[0] ?? '')
    if (parent === folders[0]) return undefined
    folders.unshift(parent)
  }
  const files = await Promise.all(folders.map((folder) => readIfExists(join(folder, GITIGNORE_FILE))))
  const lastFile = files.at(-1)
  const matchesEnvFile = (file: string | undefined, level: number) =>
    file
      ?.split('\n')
      .some((line) => IGNORES_ENV_PATTERN.test(level === files.length - 1 ? line.replace(/^\//, '') : line))
  if (files.some(matchesEnvFile)) return undefined
  const text = `${lastFile === undefined || lastFile === '' || lastFile.endsWith('\n') ? '' : '\n'}${ENV_FILE}\n`
  await appendFile(GITIGNORE_FILE, text).catch(createWriteProblem(GITIGNORE_FILE))
  return { file: GITIGNORE_FILE, status: lastFile === undefined ? 'created' : 'updated', added: [ENV_FILE] }
}

/** Matches a `.gitignore` line that covers `.env` in its folder and below. */
const IGNORES_ENV_PATTERN = /^(?:\*\*\/)?(?:\.env\*?|\*\.env)\s*$/

async function readIfExists(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    if (getErrorCode(cause) === 'ENOENT') return undefined
    throw createProblem(`Cannot read ${path} (${getErrorCode(cause)}).`, { cause })
  })
}

const rethrowUnlessExists = (path: string) => (cause: unknown) => {
  if (getErrorCode(cause) === 'EEXIST') return false
  return createWriteProblem(path)(cause)
}

const createWriteProblem =
  (path: string) =>
  (cause: unknown): never => {
    throw createProblem(`Cannot write ${path} (${getErrorCode(cause)}). Check the permissions of this directory.`, {
      cause,
    })
  }
