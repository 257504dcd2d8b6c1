import { mkdir, symlink } from 'node:fs/promises'

/** Lets the apps in a folder below `test/` import the built package by name, like real apps. Default: this file's folder. */
export async function linkPackage(place = new URL('.', import.meta.url)): Promise<void> {
  const folder = new URL('node_modules/', place)
  await mkdir(folder, { recursive: true })
  await symlink('../../..', new URL('signalbox', folder), 'dir').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}
