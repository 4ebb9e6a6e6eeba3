declare const packageRoot: string;
export = packageRoot;
