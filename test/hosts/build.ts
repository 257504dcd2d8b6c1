import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { linkPackage } from '../runtimes/package-link.ts'

const here = new URL('.', import.meta.url)
const root = new URL('../../', import.meta.url)

/** Disables telemetry, and sets the repository root, below which Next looks for packages. */
const env = { ASTRO_TELEMETRY_DISABLED: '1', NEXT_TELEMETRY_DISABLED: '1', REPOSITORY: fileURLToPath(root) }

export interface BuiltApp {
  folder: URL
  /** The environment variables for the build and the app. */
  env: Record<string, string>
}

/**
 * Returns a function that builds the app in the folder `name` with a command from `node_modules`, unless the files, packages, and gateway are
 * unchanged since the last build. The build runs in a copy, which is kept as a cache.
 */
export function buildApp(name: string, [script = '', ...args]: string[]): () => Promise<BuiltApp> {
  const folder = new URL(`node_modules/.cache/${name}/`, here)
  const stamp = new URL(`node_modules/.cache/${name}.txt`, here)
  let built: Promise<BuiltApp> | undefined

  const build = async () => {
    await linkPackage(here)
    const sources = await fingerprint(new URL(`${name}/`, here))
    if ((await readFile(stamp, 'utf8').catch(() => '')) === sources) return { folder, env }
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    await cp(new URL(`${name}/`, here), folder, { recursive: true })
    const command = fileURLToPath(new URL(`node_modules/${script}`, here))
    await promisify(execFile)(process.execPath, [command, ...args], { cwd: folder, env: { ...process.env, ...env } })
    await writeFile(stamp, sources)
    return { folder, env }
  }
  return () => {
    built ??= build()
    return built
  }
}

/** Returns a hash of the app's files, the packages that build it, and the built gateway. */
async function fingerprint(app: URL): Promise<string> {
  const hash = createHash('sha256')
  const files = await readdir(app, { recursive: true, withFileTypes: true })
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name))
  const others = ['test/hosts/package-lock.json', 'node_modules/.cache/signalbox/build.json']
  for (const path of [...paths.sort(), ...others.map((other) => fileURLToPath(new URL(other, root)))])
    hash.update(path).update(await readFile(path))
  return hash.digest('hex')
}
