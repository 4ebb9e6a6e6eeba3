/** Makes a call, and turns an error that it throws at once into a rejection. An async function that only forwards a promise takes longer. */
export function promised<T>(call: () => Promise<T>): Promise<T> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error);
  }
}
