import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** A package installed in a folder of its own. */
export interface Installed {
  folder: string
  tarball: string
}

/** A check. Resolves to the text to print, or rejects with the problem. */
export type Check = (installed: Installed) => Promise<string>

/** Runs a program to completion. Rejects with its output. */
export async function runProgram(
  command: string,
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<string> {
  const outside = { ...process.env, ...env }
  for (const name of Object.keys(outside)) if (name.startsWith('npm_')) delete outside[name] // set by `npm run`
  const options = { cwd, env: outside, maxBuffer: 1e8, timeout: 600_000 }
  const { stdout } = await execute(command, [...args], options).catch((error) => {
    throw new Error(`${command} ${args.join(' ')}: ${error.stdout ?? ''}${error.stderr ?? ''}${error.signal ?? ''}`)
  })
  return stdout
}

/** Installs packages in a folder without running their scripts. */
export const npmInstall = (cwd: string, ...packages: string[]) =>
  runProgram('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
    cwd,
  })

/** Returns the version of a package that is installed in a folder. */
export async function readVersion(folder: string, name: string): Promise<string> {
  return JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version
}

/** Creates a folder with a copy of the installed package and other files, for one check. */
export async function consumer({ folder }: Installed, files: Readonly<Record<string, string>>): Promise<string> {
  const location = await mkdtemp(join(folder, '../consumer-'))
  await cp(join(folder, 'package.json'), join(location, 'package.json'))
  await cp(join(folder, 'package-lock.json'), join(location, 'package-lock.json'))
  await cp(join(folder, 'node_modules'), join(location, 'node_modules'), { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(location, name, '..'), { recursive: true })
    await writeFile(join(location, name), text)
  }
  return location
}
