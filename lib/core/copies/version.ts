/** The version of this package. Not read from package.json: in a bundle of an application there is none. */
export const VERSION = '0.1.0';
