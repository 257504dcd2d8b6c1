import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort, type Started, startScript, until } from '../examples/example.ts'
import { linkPackage } from '../runtimes/package-link.ts'
import { readRecipe } from './page.ts'

const here = new URL('.', import.meta.url)

/**
 * Matches the connection on a page, to which tests add the URL of a mock provider. Apart from that, ports, and secrets, the code is exactly the
 * page's.
 */
const CONNECTION = /(openai: \{ apiKey: [^}]*[^} ])(?= \})/g

/** The time limit for building and starting an app on a busy machine, in ms. */
const START_MS = 240_000

export interface AppOptions {
  /** The server's address on the page. Its port is replaced. Default: `127.0.0.1:3000`. */
  address?: string
  /** Placeholders for secrets on the page, and their replacements. */
  secrets?: Record<string, string>
  /** Whether a bundler builds the app. Bundlers may reject symlinks that lead out of the app's folder. Default: `false`. */
  isBundled?: boolean
  /** Files that the page expects to exist, by path. */
  files?: Record<string, string>
}

/** An app that consists of a page's files. */
export interface App {
  readonly folder: string
  /** The port that replaces the page's port. */
  readonly port: number
  readonly files: ReadonlyMap<string, string>
  /** Starts the app with the page's first block of commands. Resolves to its origin once it responds. */
  serve(): Promise<string>
  /** Runs the page's last block of commands. Resolves to their output. */
  send(): Promise<string>
  /** Runs commands to completion. Resolves to their output, or rejects if they fail. */
  run(script: string, env?: Record<string, string>): Promise<string>
  remove(): Promise<void>
}

/** Writes the files from the page `slug` to a new folder. */
export async function openApp(slug: string, options: AppOptions & { providerUrl: string }): Promise<App> {
  const { address = '127.0.0.1:3000', providerUrl, secrets = {}, files: input = {}, isBundled } = options
  await linkPackage(here)
  const { files, commands } = await readRecipe(slug)
  const modules = fileURLToPath(new URL('node_modules', here))
  const parent = isBundled ? fileURLToPath(new URL('.apps', here)) : tmpdir()
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, `signalbox-${slug}-`))
  if (!isBundled) await symlink(modules, join(folder, 'node_modules'), 'dir')
  const [host, pagePort] = address.split(':')
  const port = await findFreePort()
  const adapt = (text: string) =>
    Object.entries(secrets)
      .reduce((adapted, [from, to]) => adapted.replaceAll(from, to), text)
      .replaceAll(new RegExp(`\\b${pagePort}\\b`, 'g'), String(port))
      .replaceAll(CONNECTION, `$1, baseUrl: '${providerUrl}'`)
  for (const [path, code] of [...Object.entries(input), ...files]) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), adapt(code))
  }

  const running = new Set<Started>()
  const start = (script: string, env: Record<string, string> = {}) => {
    const started = startScript(adapt(script), folder, env)
    running.add(started)
    return started
  }
  async function run(script: string, env?: Record<string, string>): Promise<string> {
    const { code, output } = await start(script, env).ended
    if (code !== 0) throw new Error(`${script} ended with ${code}:\n${output}`)
    return output
  }

  return {
    folder,
    port,
    files,
    run,
    async serve() {
      const started = start(commands[0] ?? '')
      const origin = `http://${host}:${port}`
      const isServed = () =>
        fetch(origin).then(
          () => true,
          () => false,
        )
      await until(started, isServed, START_MS)
      return origin
    },
    send: () => run(commands.at(-1) ?? ''),
    async remove() {
      for (const item of running) await item.kill()
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
}
