/** Loads an optional package. If that fails, throws an error that explains how to install the package. */
export async function loadPackage<Exports>(name: string, load: () => Promise<Exports>): Promise<Exports> {
  try {
    return await load()
  } catch (cause) {
    const error = new Error(`The package "${name}" could not be loaded. Install it: npm install ${name}`, { cause })
    throw Object.assign(error, { code: 'PACKAGE_NOT_FOUND' }) // the log shows the code instead of the message
  }
}
