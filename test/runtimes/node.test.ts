import { execFileSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { startChild } from './child.ts'
import { mountGuardsAndCloses } from './mount-closes.ts'
import { runsIn } from './scenario.ts'

/** The Node of these tests, and the machine's own one, which may be as old as the package allows. */
const nodes = new Map([process.execPath, ...pathNodes()].map((path) => [versionOf(path), path]))

for (const [version, node] of nodes) {
  if (!version) continue
  const start = (app: string) => () => startChild(node, [`apps/${app}.mjs`])
  runsIn(`serveNode(gateway) on Node ${version}`, start('node-mount'))
  runsIn(`toExpressHandler(gateway) on Node ${version}`, start('node-express'))
  mountGuardsAndCloses(`serveNode on Node ${version}`, start('node-mount'))
}

function pathNodes(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  return folders.map((folder) => join(folder, 'node'))
}

function versionOf(node: string): string | undefined {
  try {
    return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  } catch {
    return undefined // there is none
  }
}
